//! Holds a lock of tinystore's and gives it back: as often as each line of the input says. Answers
//! each with a line, the nanoseconds that it took.

use std::io::{self, BufRead as _, Write as _};
use std::time::Instant;

use anyhow::Result;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = tinystore::Store::open(folder.path(), tinystore::Options::default())?;
    let lock = store.lock("bench").open()?;
    for times in io::stdin().lock().lines() {
        let times: u32 = times?.trim().parse()?;
        let started = Instant::now();
        for _ in 0..times {
            lock.hold("key", |lease| -> tinystore::Result<()> {
                std::hint::black_box(lease.fence());
                Ok(())
            })?;
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{}", started.elapsed().as_nanos())?;
        out.flush()?;
    }
    Ok(())
}
