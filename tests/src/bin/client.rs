//! A program that uses a Redis backend until it is killed or its standard input ends: `client URL
//! hold|churn NAME LIMIT TTL_MS`. Limit 0 is a lease. Before it asks for a hold it says the seconds
//! since the epoch by its own wall clock, and once it has it, the fence.

use std::io::{Write as _, stdout};
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
    std::thread::spawn(end_with_standard_input);
    let leases = Leases::connect(url).await?;
    let limit: u32 = limit.parse().expect("a number");
    let ttl = Duration::from_millis(ttl_ms.parse().expect("a number"));
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

/// Whoever started it may have put another program between.
fn end_with_standard_input() {
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
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
