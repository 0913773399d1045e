//! `cargo xtask test`: everything that must hold, one step after the other.

mod count;
mod files;
mod steps;
mod stream;

use anyhow::Result;

use count::Count;
use steps::Work;

/// Runs every step, also after one that failed, and answers whether nothing did. The last line
/// that it prints is `N passed, N failed`.
pub(crate) fn run() -> Result<bool> {
    let steps = steps::all();
    let mut total = Count::default();
    let mut failed = Vec::new();
    for step in steps {
        eprintln!("\n== {}", step.name);
        let count = count_of(step.work)?;
        if count.failed > 0 {
            failed.push(step.name);
        }
        total = total + count;
    }
    eprintln!();
    for name in &failed {
        println!("failed: {name}");
    }
    println!("{total}");
    Ok(total.failed == 0)
}

/// A step that runs no tests counts as one. A run of tests that failed for another reason than a
/// test (it did not compile, say) counts as one failure.
fn count_of(work: Work) -> Result<Count> {
    Ok(match work {
        Work::Check(check) => match check() {
            Ok(()) => Count::PASSED,
            Err(error) => {
                eprintln!("{error:#}");
                Count::FAILED
            }
        },
        Work::Command(mut command) => {
            if stream::run(&mut command)?.succeeded {
                Count::PASSED
            } else {
                Count::FAILED
            }
        }
        Work::Tests(mut command) => {
            let ended = stream::run(&mut command)?;
            let count = count::of_output(&ended.output);
            if ended.succeeded || count.failed > 0 { count } else { count + Count::FAILED }
        }
    })
}
