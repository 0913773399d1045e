//! The demo with a crash: what an instance held when it trapped is free at once, and the result is
//! that of a run without a crash.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::event::{Event, Kind};
use super::plugin::{Ended, Plugin, Run};
use super::progress::grouped;
use super::tables::Table;
use super::{empty_folder, import, receipts, verify};

/// The table in which the trap is: the largest.
const TRAP_IN: &str = "europe";

/// The lease would end by itself after 30 s. A take-over that waited for that is not at once.
const TAKE_OVER_MAX: Duration = Duration::from_secs(5);

/// Runs once without a crash and once with one, and compares.
pub(super) fn run(plugin: &Plugin, tables: &[Table]) -> Result<bool> {
    println!("without a crash:");
    let clean = empty_folder("clean")?;
    let undisturbed = import(plugin, tables, &Run { out: &clean, trap_in: None }, |_| ())?;

    println!("with a crash in {TRAP_IN}:");
    let out = empty_folder("crash")?;
    let mut watch = Watch::default();
    let trapping = Run { out: &out, trap_in: Some(TRAP_IN) };
    let disturbed = import(plugin, tables, &trapping, |event| watch.see(event, Instant::now()))?;

    let ends = [
        (undisturbed == Ended::Well, "an instance failed in the run without a crash"),
        (disturbed == Ended::Failed, "no instance failed in the run with a crash"),
    ];
    for (_, what) in ends.iter().filter(|(as_expected, _)| !as_expected) {
        println!("{what}");
    }
    let taken_over = watch.take_over();
    match &taken_over {
        Ok(line) | Err(line) => println!("{TRAP_IN}: {line}"),
    }
    let same = same_rows(tables, &clean, &out)?;
    let once = verify(tables, &out)?;
    Ok(ends.iter().all(|(as_expected, _)| *as_expected) && taken_over.is_ok() && same && once)
}

/// Says which tables differ between two folders, and answers whether none does.
fn same_rows(tables: &[Table], clean: &Path, out: &Path) -> Result<bool> {
    let mut same = true;
    for Table { name, .. } in tables {
        if receipts::read(clean, name, "tsv")? != receipts::read(out, name, "tsv")? {
            println!("{name}: other rows than without a crash");
            same = false;
        }
    }
    Ok(same)
}

/// Watches for the trap and for who takes the table over. Where the events of two processes meet,
/// either may come first.
#[derive(Debug, Default)]
struct Watch {
    trap: Option<Trap>,
    takes: Vec<Take>,
}

#[derive(Debug, Clone, Copy)]
struct Trap {
    instance: u32,
    fence: u64,
    row: usize,
    at: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Take {
    instance: u32,
    fence: u64,
    at: Instant,
}

impl Watch {
    fn see(&mut self, event: &Event, at: Instant) {
        if event.table != TRAP_IN {
            return;
        }
        let instance = event.instance;
        match event.kind {
            Kind::Trapping { fence, rows: row } => {
                self.trap = Some(Trap { instance, fence, row, at });
            }
            Kind::Took { fence } => self.takes.push(Take { instance, fence, at }),
            _ => {}
        }
    }

    /// How the table was taken over, or what is wrong with it.
    fn take_over(&self) -> Result<String, String> {
        let trap = self.trap.ok_or("no instance trapped")?;
        let of_trap = |take: &&Take| (take.instance, take.fence) == (trap.instance, trap.fence);
        let next = self.takes.iter().find(|take| !of_trap(take)).ok_or("nobody took over")?;
        let after = next.at.saturating_duration_since(trap.at);
        let line = format!(
            "instance {} trapped at row {} (fence {}); instance {} took over after {:.1} ms (fence {})",
            trap.instance,
            grouped(trap.row),
            trap.fence,
            next.instance,
            after.as_secs_f64() * 1000.0,
            next.fence,
        );
        if next.instance == trap.instance {
            return Err(format!("{line}: the same instance"));
        }
        if next.fence <= trap.fence {
            return Err(format!("{line}: the fence did not grow"));
        }
        if after > TAKE_OVER_MAX {
            return Err(format!("{line}: too late"));
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a watch says of these lines, the last of which comes `after` the others.
    fn take_over(lines: &[&str], after: Duration) -> Result<String, String> {
        let mut watch = Watch::default();
        let start = Instant::now();
        for (index, line) in lines.iter().enumerate() {
            let last = index + 1 == lines.len();
            let at = if last { start + after } else { start };
            watch.see(&Event::read(line).unwrap(), at);
        }
        watch.take_over()
    }

    const SOON: Duration = Duration::from_millis(4);
    const BEFORE: &str = "took\teurope\t3\t17";
    const TRAP: &str = "trapping\teurope\t3\t17\t300";

    #[test]
    fn another_instance_with_a_greater_fence_takes_over() {
        let lines = [BEFORE, TRAP, "took\tasia\t4\t20", "took\teurope\t5\t18"];
        let said = "instance 3 trapped at row 300 (fence 17); \
                    instance 5 took over after 4.0 ms (fence 18)";
        assert_eq!(take_over(&lines, SOON).as_deref(), Ok(said));
    }

    #[test]
    fn the_take_over_may_be_heard_of_first() {
        let said = take_over(&[BEFORE, "took\teurope\t5\t18", TRAP], SOON).unwrap();
        assert!(said.ends_with("instance 5 took over after 0.0 ms (fence 18)"), "{said}");
    }

    #[test]
    fn anything_less_is_no_take_over() {
        let fault = |lines: &[&str], after| take_over(lines, after).unwrap_err();
        assert_eq!(fault(&[BEFORE], SOON), "no instance trapped");
        assert_eq!(fault(&[BEFORE, TRAP], SOON), "nobody took over");
        let late = fault(&[TRAP, "took\teurope\t5\t18"], Duration::from_secs(30));
        assert!(late.ends_with("too late"), "{late}");
        let same = fault(&[TRAP, "took\teurope\t3\t18"], SOON);
        assert!(same.ends_with("the same instance"), "{same}");
        let stale = fault(&[TRAP, "took\teurope\t5\t17"], SOON);
        assert!(stale.ends_with("the fence did not grow"), "{stale}");
    }
}
