//! What only a store shows: operations that are dropped, and asks that come late.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock::ManualClock;
use crate::holder::HolderId;
use crate::name::{Key, Kind, Name};
use crate::spec::{Answer, Ask, Mode};
use crate::sql::attempt::Attempt;
use crate::sql::config::SqlConfig;
use crate::sql::migrations;
use crate::sql::store::{Holding, LATE, Store};
use crate::terms::{Limit, Ttl, TtlBounds};
use crate::wake::Wakes;

mod reads;

const SECOND: Duration = Duration::from_secs(1);

/// A folder that goes with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

async fn store(time: &ManualClock) -> (Arc<dyn Store>, Folder) {
    let name = format!("leases-{:016x}", rand::random::<u64>());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir(&folder.0).unwrap();
    let url = format!("sqlite:{}", folder.0.join("leases.db").display());
    let config = SqlConfig::from_url(&url).unwrap().manual_clock(time);
    let (store, _) = config.open(&Wakes::default()).unwrap();
    assert_eq!(store.migrate(&Attempt::default()).await.unwrap(), migrations::LATEST as u32);
    (store, folder)
}

fn ask(name: &str, mode: Mode) -> Ask {
    Ask {
        key: Key { kind: Kind::Lease, name: Name::new(name).unwrap() },
        limit: Limit::ONE,
        holder: HolderId::random(),
        owner: None,
        ttl: Ttl::new(60 * SECOND, TtlBounds::default()).unwrap(),
        max_hold: None,
        note: None,
        mode,
    }
}

const WAIT: Mode = Mode::Wait { patience: Duration::from_secs(30) };

#[tokio::test]
async fn an_operation_that_is_dropped_is_done_or_undone_and_holds_up_nobody() {
    let time = ManualClock::new();
    let (store, _folder) = store(&time).await;
    let first = ask("a", WAIT);
    let of = Attempt::default;
    store.ask(&first, &of()).await.unwrap();
    let (mut done, mut undone, mut unsent, mut waiters) = (0, 0, 0, 0);
    for number in 0..400 {
        // Joins the line, by a transaction of two requests.
        let (next, attempt) = (ask("a", WAIT), of());
        let after = Duration::from_micros(number * 5);
        let joined = tokio::time::timeout(after, store.ask(&next, &attempt)).await;
        let began = Instant::now();
        let view = store.inspect(&first.key, &of()).await.unwrap();
        assert!(began.elapsed() < SECOND, "{:?}", began.elapsed());
        let is_in_line = view.waiters.len() > waiters;
        match joined {
            Ok(joined) => assert!(is_in_line, "{joined:?}"),
            Err(_) if !attempt.was_sent() => assert!(!is_in_line, "it was not sent"),
            Err(_) => {}
        }
        waiters = view.waiters.len();
        done += usize::from(is_in_line);
        undone += usize::from(!is_in_line);
        unsent += usize::from(!attempt.was_sent());
    }
    assert!(done > 0 && undone > 0 && unsent > 0, "{done} {undone} {unsent}");
}

#[tokio::test]
async fn an_ask_that_comes_after_its_holder_left_is_refused() {
    let time = ManualClock::new();
    let (store, _folder) = store(&time).await;
    let (on_time, may_come_late) = (Attempt::default(), Attempt::new(true));
    // Of a key that nobody knows of, and of one that is held.
    for held in [false, true] {
        let late = ask(if held { "held" } else { "new" }, WAIT);
        let holder = ask(late.key.name.as_str(), WAIT);
        if held {
            store.ask(&holder, &on_time).await.unwrap();
        }
        let of = Holding { key: late.key.clone(), holder: late.holder };
        store.leave(&of, &may_come_late).await.unwrap();
        for _ in 0..2 {
            let answer = store.ask(&late, &on_time).await.unwrap().answer;
            assert_eq!(answer, Answer::Busy { retry_in: Duration::ZERO });
        }
        let answer = store.ask(&holder, &on_time).await.unwrap().answer;
        assert!(matches!(answer, Answer::Granted(_)), "{answer:?}");
        let of = Holding { key: late.key.clone(), holder: holder.holder };
        store.release(&of, &on_time).await.unwrap().answer.unwrap();
        time.advance(LATE);
        let answer = store.ask(&late, &on_time).await.unwrap().answer;
        assert!(matches!(answer, Answer::Granted(_)), "{answer:?}");
        let of = Holding { key: late.key.clone(), holder: late.holder };
        store.release(&of, &on_time).await.unwrap().answer.unwrap();
    }
}
