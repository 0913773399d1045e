//! The conformance suite, on every backend, through both doors.

use std::pin::Pin;
use std::sync::Arc;

use leases::{ManualClock, RedisBackend, RedisConfig};
use leases_tests::backend_cases::{self, Bare};
use leases_tests::faults::{Remote, Slow};
use leases_tests::servers::Redis;
use leases_tests::{Door, Setting, World, cases, wasm, world};
use libtest_mimic::{Arguments, Trial};

/// A backend for one case, which nobody else uses.
type Open = fn() -> Pin<Box<dyn Future<Output = Setting>>>;

/// Every backend, by its name.
const BACKENDS: &[(&str, Open)] = &[
    ("memory", || Box::pin(memory())),
    ("slow", || Box::pin(slow())),
    ("remote", || Box::pin(remote())),
    ("redis", || Box::pin(redis())),
];

async fn memory() -> Setting {
    let time = ManualClock::new();
    Setting::new(Arc::new(world::memory(&time)), time)
}

/// Memory at the end of a way that takes some polls: dropped handles go through the queue, and a
/// future can be dropped while an operation is on its way.
async fn slow() -> Setting {
    let time = ManualClock::new();
    Setting::in_process(Arc::new(Slow::new(Arc::new(world::memory(&time)), 2)), time)
}

/// A server at the end of ways that take some time.
async fn remote() -> Setting {
    let time = ManualClock::new();
    Setting::new(Arc::new(Remote::new(time.clock())), time)
}

/// One Redis server, which is told the time.
async fn redis() -> Setting {
    let (server, time) = (Redis::start().await, ManualClock::new());
    let config = RedisConfig::from_url(&server.url()).expect("a URL").manual_clock(&time);
    let backend = RedisBackend::connect(config).await.expect("the server answers");
    Setting::new(Arc::new(backend), time).keeping(Arc::new(server))
}

fn main() -> std::process::ExitCode {
    let mut trials = Vec::new();
    for &(backend, open) in BACKENDS {
        for (area, cases) in cases::ALL {
            for case in *cases {
                let (run, case) = (case.run, case.name);
                trials.push(trial(format!("{backend}::native::{area}::{case}"), async move || {
                    run(World::new(open().await, Door::Native)).await;
                }));
                // In a process of one case of its own, compiled when it runs.
                trials.push(trial(format!("{backend}::wasm::{area}::{case}"), async move || {
                    let door = Door::Wasm(wasm::Program::load());
                    run(World::new(open().await, door)).await;
                }));
            }
        }
        for case in backend_cases::ALL {
            let run = case.run;
            trials.push(trial(format!("{backend}::backend::{}", case.name), async move || {
                run(Bare::new(open().await)).await;
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: String, run: impl AsyncFnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(run());
        Ok(())
    })
}
