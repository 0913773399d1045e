//! A program that uses a backend until it is killed or its standard input ends: `client URL
//! hold|churn NAME LIMIT TTL_MS`. Limit 0 is a lease. Before it asks for a hold it says the seconds
//! since the epoch by its own wall clock, and once it has it, the fence.
//!
//! `client URL race FOLDER NAMES TTL_MS` says that it is ready and waits for a line. Then it takes
//! and gives back a lease and a permit of each name, one after the other, and says that it is done.
//! While it holds one it has made a file in the folder: were it there already, another would hold.
//! `client URL migrate - 0 0` is ready and waits too; then it says how many migrations it applied.

use std::fs::{self, File};
use std::io::{Write as _, stdin, stdout};
use std::path::Path;
use std::time::{Duration, SystemTime};

use leases::{Error, Lease, Leases, Permit, Wait};

enum Held {
    Lease(Lease),
    Permit(Permit),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, what, name, limit, ttl_ms] = arguments.as_slice() else { panic!("five arguments") };
    let limit: u32 = limit.parse().expect("a number");
    let ttl = Duration::from_millis(ttl_ms.parse().expect("a number"));
    let leases = Leases::connect(url).await?;
    if let "race" | "migrate" = &**what {
        say("ready");
        stdin().read_line(&mut String::new()).expect("a line");
    }
    std::thread::spawn(end_with_standard_input);
    if what == "migrate" {
        say(&leases.migrate().await?.to_string());
        return Ok(());
    }
    if what == "race" {
        race(&leases, Path::new(name), limit, ttl).await?;
        say("done");
        return Ok(());
    }
    if what == "churn" {
        loop {
            match acquire(&leases, name, limit, ttl).await? {
                Held::Lease(mut lease) => drop(lease.release().await?),
                Held::Permit(mut permit) => drop(permit.release().await?),
            }
        }
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after it");
    say(&now.as_secs().to_string());
    let held = acquire(&leases, name, limit, ttl).await?;
    match &held {
        Held::Lease(lease) => say(&lease.fence().to_string()),
        Held::Permit(permit) => say(&permit.fence().fence.to_string()),
    }
    std::future::pending().await
}

/// Takes what others take too, for the first time.
async fn race(leases: &Leases, folder: &Path, names: u32, ttl: Duration) -> Result<(), Error> {
    for number in 0..names {
        for limit in [0, 1] {
            let name = format!("race{number}");
            let mut held = acquire(leases, &name, limit, ttl).await?;
            let file = folder.join(format!("{name}:{limit}"));
            File::create_new(&file).expect("nobody else holds it");
            tokio::task::yield_now().await;
            fs::remove_file(&file).expect("it is still there");
            let released = match &mut held {
                Held::Lease(lease) => lease.release().await?,
                Held::Permit(permit) => permit.release().await?,
            };
            assert!(released, "it was still held");
        }
    }
    Ok(())
}

/// Whoever started it may have put another program between.
fn end_with_standard_input() {
    let _ = std::io::copy(&mut stdin(), &mut std::io::sink());
    std::process::exit(0);
}

async fn acquire(leases: &Leases, name: &str, limit: u32, ttl: Duration) -> Result<Held, Error> {
    Ok(match limit {
        0 => Held::Lease(leases.lease(name)?.ttl(ttl).wait(Wait::Forever).acquire().await?),
        limit => {
            let semaphore = leases.semaphore(name, limit)?.ttl(ttl).wait(Wait::Forever);
            Held::Permit(semaphore.acquire().await?)
        }
    })
}

fn say(what: &str) {
    println!("{what}");
    stdout().flush().expect("somebody reads");
}
