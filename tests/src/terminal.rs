//! A terminal of a test's own: what a program shows on it, and what it leaves behind.

use std::num::NonZeroU16;
use std::os::fd::AsFd as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Pts, Pty, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::tcgetattr;
use vt100::{Parser, Screen};

const PATIENCE: Duration = Duration::from_secs(30);

/// A pseudo-terminal, what stands on its screen, and the program in it, which is killed with it.
pub struct Terminal {
    shown: Arc<Shown>,
    pty: Arc<Pty>,
    /// Kept open, as a shell keeps its own.
    pts: Pts,
    child: Child,
    found: Left,
}

/// What a program leaves behind of the terminal that it was started in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// How the line is set, with echo, signals and all.
    pub settings: String,
    /// Whether it is the main screen that is seen.
    pub is_main_screen: bool,
    /// Whether there is a cursor.
    pub has_cursor: bool,
}

struct Shown {
    parser: Mutex<Parser>,
    changed: Condvar,
}

impl Shown {
    fn parser(&self) -> MutexGuard<'_, Parser> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn wait_for(&self, what: &str, mut is_so: impl FnMut(&Screen) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut parser = self.parser();
        while !is_so(parser.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let text = parser.screen().contents();
            assert!(left > Duration::ZERO, "not within {PATIENCE:?}: {what}\n{text}");
            let waited = self.changed.wait_timeout(parser, left);
            parser = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        parser.screen().contents()
    }
}

impl Terminal {
    /// Starts a program in a terminal of so many lines and columns, on which this line stands
    /// already.
    pub fn start(command: Command, (lines, columns): (u16, u16), before: &str) -> Self {
        let (pty, pts) = open().expect("a pseudo-terminal");
        pty.resize(Size::new(lines, columns)).expect("it is ours");
        let pty = Arc::new(pty);
        let shown = Arc::new(Shown {
            parser: Mutex::new(Parser::new(some(lines), some(columns), 0)),
            changed: Condvar::new(),
        });
        let (reading, showing) = (Arc::clone(&pty), Arc::clone(&shown));
        thread::spawn(move || {
            let mut read = [0; 4096];
            // It ends when nobody has the other end any more.
            while let Ok(count @ 1..) = rustix::io::read(&*reading, &mut read) {
                showing.parser().process(&read[..count]);
                showing.changed.notify_all();
            }
        });
        write(&pts, &format!("{before}\r\n"));
        // Before the program begins: it may show another screen at once.
        shown.wait_for(before, |screen| screen.contents().contains(before));
        let found = Left { settings: settings(&pts), is_main_screen: true, has_cursor: true };
        let mut command = pty_process::blocking::Command::from(command);
        let child = command.spawn_borrowed(&pts).expect("it runs");
        Terminal { shown, pty, pts, child, found }
    }

    /// Types.
    pub fn press(&self, keys: &str) {
        let written = rustix::io::write(&*self.pty, keys.as_bytes()).expect("it is ours");
        assert_eq!(written, keys.len());
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("it is ours");
    }

    /// Gives the terminal another size.
    pub fn resize(&self, (lines, columns): (u16, u16)) {
        self.shown.parser().screen_mut().set_size(some(lines), some(columns));
        self.pty.resize(Size::new(lines, columns)).expect("it is ours");
    }

    /// Waits until the screen is so, and answers its text. Panics with `what` and the screen when it
    /// is not for 30 seconds.
    #[track_caller]
    pub fn wait_for(&self, what: &str, is_so: impl FnMut(&Screen) -> bool) -> String {
        self.shown.wait_for(what, is_so)
    }

    /// Waits until this stands on the screen, and answers all that does.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contents().contains(text))
    }

    /// How it was before the program began.
    pub fn found(&self) -> &Left {
        &self.found
    }

    /// Waits until the program has ended and all that it wrote is shown; answers its status, what it
    /// left behind, and the text of the screen that is seen then.
    #[track_caller]
    pub fn ended(mut self) -> (ExitStatus, Left, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            assert!(Instant::now() < deadline, "it has not ended within {PATIENCE:?}");
            thread::sleep(Duration::from_millis(5));
        };
        let settings = settings(&self.pts);
        // What is written last is shown last.
        write(&self.pts, "\r\nall-was-read\r\n");
        let text = self.wait_for_text("all-was-read").replace("all-was-read", "");
        let parser = self.shown.parser();
        let screen = parser.screen();
        let (is_main_screen, has_cursor) = (!screen.alternate_screen(), !screen.hide_cursor());
        drop(parser);
        (status, Left { settings, is_main_screen, has_cursor }, text)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(pts: &Pts) -> String {
    format!("{:?}", tcgetattr(pts.as_fd()).expect("it is a terminal"))
}

fn write(pts: &Pts, text: &str) {
    let written = rustix::io::write(pts, text.as_bytes()).expect("it is ours");
    assert_eq!(written, text.len());
}

fn some(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).expect("a terminal has lines and columns")
}
