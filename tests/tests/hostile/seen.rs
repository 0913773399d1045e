//! What was seen of one guest.

use wasmtime_wasi::I32Exit;

use crate::heap::Growth;

/// How a guest ended, what it said, and what its host's memory did meanwhile.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) ending: Ending,
    pub(crate) said: String,
    pub(crate) complained: String,
    pub(crate) growth: Growth,
}

/// How a guest's call ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By a trap, with the host's words for it.
    Trapped(String),
    /// Its host dropped it.
    Stopped,
}

impl From<wasmtime::Result<Result<(), ()>>> for Ending {
    fn from(result: wasmtime::Result<Result<(), ()>>) -> Self {
        match result {
            Ok(Ok(())) => Ending::Exited(0),
            Ok(Err(())) => Ending::Exited(1),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(I32Exit(status)) => Ending::Exited(*status),
                None => Ending::Trapped(format!("{error:?}")),
            },
        }
    }
}

impl Seen {
    /// It came to its end, was told what it expected, and said this last.
    pub(crate) fn exited(self, said: &str) {
        self.exited_with(0, said);
    }

    pub(crate) fn exited_with(self, status: i32, said: &str) {
        self.said_last(said);
        assert_eq!(self.ending, Ending::Exited(status), "{self:#?}");
    }

    /// It did what it does, and went on until its host dropped it.
    pub(crate) fn stopped(self, said: &str) {
        self.said_last(said);
        assert_eq!(self.ending, Ending::Stopped, "{self:#?}");
    }

    /// It was stopped by a trap, for this reason, after it had said this.
    pub(crate) fn trapped(self, said: &str, why: &str) {
        self.said_last(said);
        let Ending::Trapped(words) = &self.ending else { panic!("it did not trap: {self:#?}") };
        assert!(words.contains(why), "not because of {why:?}: {self:#?}");
    }

    fn said_last(&self, said: &str) {
        // What it was told was not what it expected.
        assert!(!self.complained.contains("panicked at"), "{}\n{self:#?}", self.complained);
        let last = self.said.lines().last();
        assert_eq!(last, Some(said), "{self:#?}");
    }
}
