//! Random lists of operations on a Redis server, which is told the time, beside the rules: who is
//! told to ask, whose holds are told revoked, and that whatever is stored has an end.

use std::collections::BTreeSet;
use std::time::Duration;

use leases::spec::{Ask, Change, KeyState, Mode, Rules};
use leases::{
    Backend as _, Extend, HolderId, Key, Limit, ManualClock, MaxHold, Name, Owner, RedisBackend,
    RedisConfig, Refresh, Ttl, TtlBounds,
};
use leases_tests::servers::Redis;
use leases_tests::steps::{self, Asked, Extended, KEYS, Mix, Step, step};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, PushInfo, PushKind, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// All tickets have it: then the rules and the scripts know of the same earliest lapse.
const PATIENCE: Duration = Duration::from_secs(3);

const FEW: Mix = Mix { keys: 0..KEYS.len(), holders: 8, limit_max: 4, pass_max: 1500 };
/// As many slots as the rules search one by one: beyond, they may wake sooner.
const MANY: Mix = Mix { keys: 1..2, holders: 60, limit_max: 16, pass_max: 700 };
const MISSED: Mix = Mix { keys: 1..2, holders: 6, limit_max: 3, pass_max: 2500 };

#[tokio::test]
async fn redis_wakes_whom_the_rules_wake() {
    compare(&FEW, 40..80, 150).await;
}

#[tokio::test]
async fn redis_wakes_whom_the_rules_wake_with_many_slots() {
    compare(&MANY, 150..250, 40).await;
}

#[tokio::test]
async fn redis_wakes_whom_the_rules_wake_where_calls_are_missed() {
    compare(&MISSED, 40..80, 150).await;
}

/// Who is to ask, and whose holds were revoked.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    woken: BTreeSet<HolderId>,
    revoked: BTreeSet<HolderId>,
}

/// A listener to all inboxes.
struct Ear {
    connection: MultiplexedConnection,
    pushed: UnboundedReceiver<PushInfo>,
}

impl Ear {
    async fn to(server: &Redis) -> Self {
        let (pushes, pushed) = unbounded_channel();
        let client = Client::open(format!("{}/?protocol=resp3", server.url())).unwrap();
        let how = AsyncConnectionConfig::new().set_push_sender(pushes);
        let mut connection = client.get_multiplexed_async_connection_with_config(&how).await;
        connection.as_mut().unwrap().psubscribe("leases:wake:*").await.unwrap();
        Ear { connection: connection.unwrap(), pushed }
    }

    /// Who was told since the last time.
    async fn told(&mut self) -> Told {
        // Its answer comes behind all that was published before.
        let _: String = redis::cmd("PING").query_async(&mut self.connection).await.unwrap();
        let mut told = Told::default();
        while let Ok(PushInfo { kind, data }) = self.pushed.try_recv() {
            if let (
                PushKind::PMessage,
                [_, Value::BulkString(channel), Value::BulkString(holders)],
            ) = (kind, data.as_slice())
            {
                let (holders, rest) = holders.as_chunks::<16>();
                assert!(rest.is_empty());
                let holders = holders.iter().map(|bytes| HolderId::from_bytes(*bytes));
                match channel.as_slice() {
                    b"leases:wake:revoked" => told.revoked.extend(holders),
                    _ => told.woken.extend(holders),
                }
            }
        }
        told
    }
}

async fn compare(mix: &Mix, length: std::ops::Range<usize>, lists: u32) {
    let (server, time) = (Redis::start().await, ManualClock::new());
    let config = RedisConfig::from_url(&server.url()).unwrap().manual_clock(&time);
    let backend = RedisBackend::connect(config).await.unwrap();
    let mut ear = Ear::to(&server).await;
    // The same lists each time. Where both told a waiter to look again at different moments, each no
    // later than it has to, one may wake it and the other need not: these have no such moment.
    let mut runner = TestRunner::deterministic();
    let (mut woken, mut revoked) = (0, 0);
    for list in 0..lists {
        let steps = prop::collection::vec(step(mix), length.clone());
        let key = |(kind, name)| Key { kind, name: Name::new(format!("{name}{list}")).unwrap() };
        let keys = KEYS.map(key);
        let mut states = [(); KEYS.len()].map(|()| KeyState::default());
        for step in steps.new_tree(&mut runner).unwrap().current() {
            let by_rules = both(&backend, &time, &keys, &mut states, &step).await;
            woken += by_rules.woken.len();
            revoked += by_rules.revoked.len();
            assert_eq!(ear.told().await, by_rules, "{step:?}");
        }
        every_key_expires(&server, &mut ear.connection).await;
        server.flush_all().await;
    }
    assert!(woken > 100 && revoked > 10, "{woken} {revoked}");
}

/// Does a step with both; answers whom the rules tell.
async fn both(
    backend: &RedisBackend,
    time: &ManualClock,
    keys: &[Key],
    states: &mut [KeyState],
    step: &Step,
) -> Told {
    let (now, rules) = (time.clock().timestamp(), Rules::default());
    let (mut wake, mut revoked) = (Vec::new(), Vec::new());
    match step {
        Step::Pass { millis } => time.advance(Duration::from_millis(*millis)),
        Step::Ask(asked) => {
            let ask = ask(&keys[asked.key], asked);
            backend.ask(&ask).await.unwrap();
            wake = states[asked.key].ask(&ask, now, &rules).wake;
        }
        Step::Release { key, holder } => {
            let released = backend.release(&keys[*key], id(*holder)).await.unwrap();
            let Change { answer, wake: by_rules } = states[*key].release(id(*holder), now, &rules);
            assert_eq!(released, answer);
            wake = by_rules;
        }
        Step::Leave { key, holder } => {
            backend.leave(&keys[*key], id(*holder)).await.unwrap();
            wake = states[*key].leave(id(*holder), now, &rules).wake;
        }
        Step::Revoke { key, slot } => {
            let count = backend.revoke(&keys[*key], *slot).await.unwrap();
            let change = states[*key].revoke(*slot, now, &rules);
            (revoked, wake) = (change.answer, change.wake);
            assert_eq!(count as usize, revoked.len());
        }
        Step::Refresh { batch } => {
            let refreshes: Vec<_> = batch.iter().map(|one| refresh(&keys[one.key], one)).collect();
            backend.refresh(&refreshes).await.unwrap();
            for (one, Refresh { holder, extend, .. }) in batch.iter().zip(&refreshes) {
                let state = &mut states[one.key];
                wake.extend(match *extend {
                    Extend::Hold(ttl) => state.refresh(*holder, ttl, now, &rules).wake,
                    Extend::Ticket { patience } => {
                        state.sign_of_life(*holder, patience, now, &rules).wake
                    }
                });
            }
        }
    }
    Told { woken: wake.into_iter().collect(), revoked: revoked.into_iter().collect() }
}

async fn every_key_expires(server: &Redis, connection: &mut MultiplexedConnection) {
    for key in server.keys().await {
        let left: i64 = redis::cmd("PTTL").arg(&key).query_async(connection).await.unwrap();
        assert!(left != -1, "{} never expires", String::from_utf8_lossy(&key));
    }
}

fn id(holder: u8) -> HolderId {
    HolderId::from_bytes([holder; 16])
}

fn ttl(millis: u64) -> Ttl {
    Ttl::new(Duration::from_millis(millis), TtlBounds::default()).unwrap()
}

fn refresh(key: &Key, one: &Extended) -> Refresh {
    let extend = match one.extend {
        steps::Extend::Hold { ttl: millis } => Extend::Hold(ttl(millis)),
        steps::Extend::Ticket { .. } => Extend::Ticket { patience: PATIENCE },
    };
    Refresh { key: key.clone(), holder: id(one.holder), extend }
}

fn ask(key: &Key, asked: &Asked) -> Ask {
    let Asked { holder, limit, owner, ttl: millis, max_hold, patience, .. } = *asked;
    let max_hold = max_hold.map(Duration::from_millis);
    Ask {
        key: key.clone(),
        limit: Limit::new(limit).unwrap(),
        holder: id(holder),
        owner: owner.map(|owner| Owner::new(format!("owner {owner}")).unwrap()),
        ttl: ttl(millis),
        max_hold: max_hold.map(|it| MaxHold::new(it, TtlBounds::default()).unwrap()),
        note: None,
        mode: patience.map_or(Mode::Once, |_| Mode::Wait { patience: PATIENCE }),
    }
}
