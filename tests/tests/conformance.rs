//! The conformance suite, on every backend, through both doors.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use leases::{Backend as _, ManualClock, RedisBackend, RedisConfig, SqlBackend, SqlConfig};
use leases_tests::backend_cases::{self, Bare};
use leases_tests::faults::{Remote, Slow};
use leases_tests::servers::{Cluster, MariaDb, Postgres, Redis};
use leases_tests::{Case, Door, Setting, World, cases, wasm, world};
use libtest_mimic::{Arguments, Failed, Trial};

/// A backend for one case, which nobody else uses.
type Open = fn() -> Pin<Box<dyn Future<Output = Setting>>>;

/// Every backend, by its name.
const BACKENDS: &[(&str, Open)] = &[
    ("memory", || Box::pin(memory())),
    ("slow", || Box::pin(slow())),
    ("remote", || Box::pin(remote())),
    ("redis", || Box::pin(redis())),
    ("postgres", || Box::pin(postgres())),
    ("mariadb", || Box::pin(mariadb())),
    ("sqlite", || Box::pin(sqlite())),
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

/// A PostgreSQL, which is told the time.
async fn postgres() -> Setting {
    let server = Postgres::start().await;
    on_sql(&server.url()).await.keeping(Arc::new(server))
}

/// A MariaDB, which is told the time.
async fn mariadb() -> Setting {
    let server = MariaDb::start().await;
    on_sql(&server.url()).await.keeping(Arc::new(server))
}

/// A file, whose clock is told.
async fn sqlite() -> Setting {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("leases.db").display());
    on_sql(&url).await.keeping(Arc::new(folder))
}

/// An empty database, which is told the time.
async fn on_sql(url: &str) -> Setting {
    let time = ManualClock::new();
    let config = SqlConfig::from_url(url).expect("a URL").manual_clock(&time);
    let backend = SqlBackend::connect(config).await.expect("the database answers");
    backend.migrate().await.expect("it is empty");
    Setting::new(Arc::new(backend), time)
}

/// A cluster of three masters. It takes seconds to start, so the cases of one area share it, each
/// under a prefix of its own.
async fn cluster(servers: &Arc<Cluster>, case: &str) -> Setting {
    let time = ManualClock::new();
    let config = RedisConfig::from_url(&servers.url()).expect("a URL").manual_clock(&time);
    let backend = RedisBackend::connect(config.prefix(format!("{case}:"))).await;
    let backend = Arc::new(backend.expect("the cluster answers"));
    let mut barriers = BTreeMap::new();
    for number in 0.. {
        if barriers.len() == servers.nodes().len() {
            break;
        }
        let name = format!("barrier {number}");
        barriers.insert(servers.node_of(format!("{{{name}}}").as_bytes()).await.port(), name);
    }
    Setting::new(backend, time).barriers(barriers.into_values())
}

fn main() -> std::process::ExitCode {
    let mut trials = on_cluster();
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

/// The cases on a cluster, one trial for an area.
fn on_cluster() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(area, cases) in cases::ALL {
        for door in ["native", "wasm"] {
            trials.push(Trial::test(format!("cluster::{door}::{area}"), move || {
                on_one_cluster(cases, async |setting| {
                    let door = match door {
                        "wasm" => Door::Wasm(wasm::Program::load()),
                        _ => Door::Native,
                    };
                    World::new(setting, door)
                })
            }));
        }
    }
    trials.push(Trial::test("cluster::backend", || {
        on_one_cluster(backend_cases::ALL, async |setting| Bare::new(setting))
    }));
    trials
}

/// Runs cases one after the other; fails with the names of those that failed.
fn on_one_cluster<W>(cases: &[Case<W>], world: impl AsyncFn(Setting) -> W) -> Result<(), Failed> {
    let starting = runtime()?;
    let servers = Arc::new(starting.block_on(Cluster::start()));
    let fails = |case: &&Case<W>| {
        let run = || {
            runtime().expect("a runtime").block_on(async {
                (case.run)(world(cluster(&servers, case.name).await).await).await;
            });
        };
        catch_unwind(AssertUnwindSafe(run)).is_err()
    };
    let failed: Vec<_> = cases.iter().filter(fails).map(|case| case.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {failed:?}").into()) }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn trial(name: String, run: impl AsyncFnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        runtime()?.block_on(run());
        Ok(())
    })
}
