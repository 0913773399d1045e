//! The processes that a process started. Systems other than Linux show none here.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Pid;

const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// All that this process started, and what those did.
pub(super) fn descendants(of: u32) -> Vec<Pid> {
    let processes: Vec<_> = processes().collect();
    let mut found = vec![of];
    let mut looked_at = 0;
    while let Some(&parent) = found.get(looked_at) {
        found.extend(processes.iter().filter(|one| one.parent == parent).map(|one| one.id));
        looked_at += 1;
    }
    found.iter().skip(1).filter_map(|&id| pid(id)).collect()
}

/// Waits until this process does nothing more, after it was told to stop.
pub(super) fn wait_for_the_stop(id: u32) {
    wait_while(id, |state| !matches!(state, 'T' | 't' | 'Z' | 'X'));
}

/// Waits until these have ended, after they were told to.
pub(super) fn wait_for_the_end(processes: &[Pid]) {
    for process in processes {
        wait_while(process.as_raw_pid().unsigned_abs(), |state| !matches!(state, 'Z' | 'X'));
    }
}

fn wait_while(id: u32, condition: impl Fn(char) -> bool) {
    while look(&id.to_string()).is_some_and(|one| condition(one.state)) {
        thread::sleep(BETWEEN_LOOKS);
    }
}

struct Seen {
    id: u32,
    parent: u32,
    state: char,
}

fn processes() -> impl Iterator<Item = Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| look(entry.file_name().to_str()?))
}

/// The process of this id, if there is one.
fn look(id: &str) -> Option<Seen> {
    let id = id.parse().ok()?;
    let line = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // Its name may be anything: what follows it is counted from the last bracket.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some(Seen { id, state, parent: fields.next()?.parse().ok()? })
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id).ok()?)
}
