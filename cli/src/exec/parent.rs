//! Ending a command with its parent.
//!
//! The one place with `unsafe`: between a fork and the program that follows it, where this has to be
//! asked for, Rust lets nothing else run.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Has the system kill the command when the thread that starts it ends, however that ends.
#[allow(unsafe_code)]
pub(super) fn ends_with_its_own(command: &mut Command) {
    let parent = getpid();
    let ask = move || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before it was asked.
        if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: after the fork of a program with several threads only what is safe in a signal handler
    // may be called. These are two system calls, without a lock and without an allocation.
    unsafe {
        command.pre_exec(ask);
    }
}
