//! Operations that are cancelled wedge nothing for those that come after.

use std::pin::pin;
use std::time::Duration;

use leases::spec::Mode;
use leases::{Fence, Target};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::live::{MARGIN, SECOND, ask, lease_key, timed, until_free};
use crate::servers::until;
use crate::trouble::cancelled_after;
use crate::{Case, Database, On, Site, listed};

pub(super) const CASES: &[Case<On>] =
    listed![a3_cancelled_operations_wedge_nothing, a3_thousands_given_up_at_once_wedge_nothing];

/// Case A3: operations of every kind are dropped after some polls, or some time. After each twenty
/// an operation of each kind is carried out at once, and in the end no transaction is open.
async fn a3_cancelled_operations_wedge_nothing(on: On) {
    let site = on.start().await;
    let bare = site.backend(two_connections(on)).await;
    let patience = bare.properties().patience;
    let key = lease_key("a");
    let target = Target { name: key.name.clone(), slot: None };
    let mut rng = SmallRng::seed_from_u64(7);
    let mut cancelled = 0;
    for round in 0..20_u64 {
        for number in 0..20 {
            let polls = rng.random_range(0..5);
            let ask = ask(&key, 1, Mode::Wait { patience });
            let fence = Fence::new(1 + round).unwrap();
            let ended = match number % 5 {
                0 => {
                    let asking = pin!(bare.ask(&ask));
                    tokio::time::timeout(Duration::from_micros(polls * 300), asking).await.is_ok()
                }
                1 => cancelled_after(polls as u32, bare.ask(&ask)).await.is_some(),
                2 => cancelled_after(polls as u32, bare.inspect(&key)).await.is_some(),
                3 => cancelled_after(polls as u32, bare.admit(&target, fence)).await.is_some(),
                _ => cancelled_after(polls as u32, bare.revoke(&key, None)).await.is_some(),
            };
            cancelled += u32::from(!ended);
            let (left, took) = timed(bare.leave(&key, ask.holder)).await;
            left.unwrap();
            assert!(took < SECOND, "{took:?}");
        }
        let (all, took) = timed(async {
            bare.leave(&key, ask(&key, 1, Mode::Once).holder).await?;
            bare.inspect(&key).await?;
            bare.current(&target).await
        })
        .await;
        assert!(all.is_ok() && took < MARGIN, "{all:?} after {took:?}");
    }
    assert!(cancelled > 100, "{cancelled}");
    until_free(&site.connect().await, &key, SECOND).await;
    nothing_is_open(&site).await;
}

/// Case A3: what waits for one of two connections is given up while thousands are before it. What
/// comes after is carried out, once those that went on by themselves have ended.
async fn a3_thousands_given_up_at_once_wedge_nothing(on: On) {
    let site = on.start().await;
    let bare = site.backend(two_connections(on)).await;
    let keys: Vec<_> = (0..3000).map(|number| lease_key(&format!("l{number}"))).collect();
    let asks: Vec<_> = keys.iter().map(|key| ask(key, 1, Mode::Once)).collect();
    let mut replies: Vec<_> = asks.iter().map(|ask| bare.ask(ask)).collect();
    for reply in &mut replies {
        assert!(cancelled_after(1, reply).await.is_none());
    }
    drop(replies);
    until("an operation is carried out", || async { bare.inspect(&keys[0]).await.ok() }).await;
    for asked in &asks {
        until("it leaves", || async { bare.leave(&asked.key, asked.holder).await.ok() }).await;
    }
    let leases = site.connect().await;
    for key in keys.iter().step_by(100) {
        until_free(&leases, key, SECOND).await;
    }
    nothing_is_open(&site).await;
}

/// Few, where there is a pool of them.
fn two_connections(on: On) -> &'static str {
    if on.database == Database::Redis { "" } else { "connections=2" }
}

/// No client is in a transaction.
async fn nothing_is_open(site: &Site) {
    let open = match site {
        Site::Postgres(_) => {
            "SELECT count(*) FROM pg_stat_activity \
             WHERE backend_type = 'client backend' AND state LIKE 'idle in transaction%'"
        }
        Site::MariaDb(_) => "SELECT count(*) FROM information_schema.innodb_trx",
        Site::Redis(_) | Site::Sqlite(_) => return,
    };
    until("no transaction is open", || async { (site.number(open).await == 0).then_some(()) })
        .await;
}
