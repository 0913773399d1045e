//! The conformance suite, on every backend that needs no server, through both doors.

use std::sync::Arc;

use leases::{Backend, ManualClock};
use leases_tests::backend_cases::{self, Bare};
use leases_tests::faults::Slow;
use leases_tests::{Door, World, cases, wasm, world};
use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    let mut trials = Vec::new();
    for (area, cases) in cases::ALL {
        for case in *cases {
            let run = case.run;
            let named = |where_: &str| format!("{where_}::{area}::{}", case.name);
            trials.push(trial(named("memory::native"), move || run(World::memory(Door::Native))));
            // In a process of one case of its own, compiled when it runs.
            trials.push(trial(named("memory::wasm"), move || {
                run(World::memory(Door::Wasm(wasm::Program::load())))
            }));
            trials.push(trial(named("slow::native"), move || run(slow())));
        }
    }
    for case in backend_cases::ALL {
        let run = case.run;
        trials.push(trial(format!("memory::backend::{}", case.name), move || {
            let time = ManualClock::new();
            run(Bare { backend: Arc::new(world::memory(&time)), time })
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Memory at the end of a way that takes some polls: dropped handles go through the queue, and a
/// future can be dropped while an operation is on its way.
fn slow() -> World {
    let time = ManualClock::new();
    let backend: Arc<dyn Backend> = Arc::new(Slow::new(Arc::new(world::memory(&time)), 2));
    World::new(backend, time, Door::Native)
}

fn trial<F>(name: String, run: impl FnOnce() -> F + Send + 'static) -> Trial
where
    F: Future<Output = ()>,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(run());
        Ok(())
    })
}
