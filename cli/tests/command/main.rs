//! The command `leases`, as it is built.

mod backend;
mod exec;
mod kept;
mod limits;
mod looking;
mod metrics;
mod migrate;
mod packaging;
mod policy;
mod run;
mod sharing;
mod tls;
mod watch;

use std::process::{Command, Output};

use leases_tests::guests;

/// The command, on memory unless it is told otherwise.
fn leases() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leases"));
    command.env_remove("LEASES_REDIS_URL").env_remove("LEASES_DATABASE_URL");
    command
}

/// A guest that tries one operation.
fn probe() -> String {
    guests::command("probe").to_str().expect("UTF-8").to_owned()
}

/// What a run ended in.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Ran {
    fn to_its_end(command: &mut Command) -> Self {
        Ran::of(command.output().expect("the command runs"))
    }

    fn of(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran { status: status.code().expect("not killed"), out: text(stdout), err: text(stderr) }
    }

    /// Ended with this status, and one line that says why.
    #[track_caller]
    fn refused(&self, status: i32, why: &str) {
        assert_eq!(self.status, status, "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "one line: {}", self.err);
        assert!(self.err.contains(why), "{:?} does not say {why:?}", self.err);
        assert_eq!(self.out, "");
    }
}
