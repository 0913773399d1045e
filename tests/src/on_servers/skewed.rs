//! Clients whose wall clocks are off, of a server that has a clock of its own.

use std::time::{Instant, SystemTime};

use crate::live::{SECOND, lease_key, until_seen};
use crate::{Case, On, Site, listed};

pub(super) const CASES: &[Case<On>] = listed![h10_no_clients_clock_decides];

/// Case H10: clients whose wall clocks differ by an hour exclude each other all the same, and are
/// granted fences in order.
async fn h10_no_clients_clock_decides(on: On) {
    let site = on.start().await;
    tokio::join!(decides_not(on, &site, "+3600"), decides_not(on, &site, "-3600"));
}

async fn decides_not(on: On, site: &Site, by: &str) {
    let leases = site.connect().await;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let mut held = leases.lease(by).unwrap().ttl(60 * SECOND).acquire().await.unwrap();
    let mut other = on.skewed_client(by, &site.url(), by, 2500);
    let its_now: u64 = other.says().parse().unwrap();
    assert!(its_now.abs_diff(now) > 3500, "{now}, {its_now}");
    // By its clock the hold has ended, or has an hour more; by the server's it is held.
    until_seen(&leases, &lease_key(by), 1, 1).await;
    tokio::time::sleep(SECOND).await;
    until_seen(&leases, &lease_key(by), 1, 1).await;
    assert!(held.release().await.unwrap());
    let fence: u64 = other.says().parse().unwrap();
    assert!(fence > held.fence().as_u64());
    // And its hold is held, for its ttl of 2.5 s less what saying so took, and not for longer.
    let began = Instant::now();
    assert!(leases.lease(by).unwrap().try_acquire().await.unwrap().is_none());
    let mut next = leases.lease(by).unwrap().acquire().await.unwrap();
    let took = began.elapsed();
    assert!((SECOND..4 * SECOND).contains(&took), "{took:?}");
    assert!(next.fence().as_u64() > fence);
    assert!(next.release().await.unwrap());
}
