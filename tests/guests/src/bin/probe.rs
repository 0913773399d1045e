//! A command that tries one operation and says what came of it: `probe lease NAME`,
//! `probe semaphore NAME`, `probe admit NAME`, `probe current NAME`, or `probe instance`, which says
//! its number; `probe hold NAME` holds NAME for longer than its ttl, `probe outlast NAME` for longer
//! than its max-hold; `probe busy NAME` holds in instance 0 while the others compute; `probe trap NAME`
//! traps while it holds NAME; `probe exit NAME` exits with 1 while it holds NAME, and
//! `probe exit NAME FILE` not before there is a FILE. Those that never end by themselves say `took`
//! once they hold NAME, for ten minutes: `probe loop NAME` computes, `probe wait NAME OTHER` waits for
//! OTHER, `probe read NAME FILE` reads FILE to its end, `probe eat NAME` takes memory.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use leases_guest::{Error, Fence, Lease};

/// Long enough for a machine on which more computes than it has cores for.
const BUSY_TTL: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let (operation, name) = (argument(0), argument(1));
    match probe(&operation, &name) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("probe: {operation}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn probe(operation: &str, name: &str) -> Result<String, Error> {
    match operation {
        "lease" => Ok(format!("fence {}", leases_guest::lease(name).acquire()?.fence())),
        "semaphore" => Ok(format!("slot {}", leases_guest::semaphore(name, 2).acquire()?.slot())),
        "admit" => Ok(format!("{:?}", leases_guest::guard(name).admit(Fence::from_u64(7))?)),
        "current" => Ok(format!("{:?}", leases_guest::guard(name).current()?)),
        "hold" => hold(name, Duration::from_secs(1)),
        "outlast" => {
            let max_hold = Duration::from_millis(200);
            let request = leases_guest::lease(name).ttl(Duration::from_secs(1)).max_hold(max_hold);
            request.hold(|_| {
                std::thread::sleep(2 * max_hold);
                Ok("worked to the end".to_owned())
            })
        }
        "busy" if instance() != "0" => {
            let started = Instant::now();
            while started.elapsed() < 3 * BUSY_TTL {
                std::hint::spin_loop();
            }
            Ok("computed".to_owned())
        }
        "busy" => hold(name, BUSY_TTL),
        "instance" => Ok(instance()),
        "trap" => {
            let _held = leases_guest::lease(name).acquire()?;
            std::process::abort()
        }
        "exit" => {
            let _held = leases_guest::lease(name).acquire()?;
            while std::env::args().len() > 3 && !Path::new(&argument(2)).exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::process::exit(1)
        }
        "loop" => {
            let _held = take(name)?;
            loop {
                std::hint::spin_loop();
            }
        }
        "wait" => {
            let _held = take(name)?;
            let other = leases_guest::lease(argument(2)).wait_as_allowed().acquire()?;
            Ok(format!("fence {}", other.fence()))
        }
        "read" => {
            let _held = take(name)?;
            Ok(format!("{:?}", std::fs::read(argument(2)).map(|bytes| bytes.len())))
        }
        "eat" => {
            let _held = take(name)?;
            let mut eaten = Vec::new();
            loop {
                eaten.push(vec![1_u8; 1 << 20]);
            }
        }
        other => Err(Error::Invalid(format!("operation: {other:?} is none of the probe's"))),
    }
}

/// Holds for three ttls, kept alive by the host.
fn hold(name: &str, ttl: Duration) -> Result<String, Error> {
    leases_guest::lease(name).ttl(ttl).hold(|lease| {
        std::thread::sleep(3 * ttl);
        Ok(format!("lost: {:?}", lease.lost()))
    })
}

/// Holds for so long that nothing but giving back ends it in a test, and says so.
fn take(name: &str) -> Result<Lease, Error> {
    let held = leases_guest::lease(name).ttl(Duration::from_secs(600)).acquire()?;
    println!("took");
    Ok(held)
}

/// What was given behind the operation: 1 is the name.
fn argument(number: usize) -> String {
    std::env::args().nth(number + 1).unwrap_or_default()
}

fn instance() -> String {
    std::env::var("LEASES_INSTANCE").unwrap_or_default()
}
