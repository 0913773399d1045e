//! The cases of what no caller of the engine sees: holder ids, tickets, batches. They talk to the
//! backend itself.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use leases::spec::{Answer, Ask, Granted, KeyView, Mode};
use leases::{
    Backend, ErrorKind, Extend, HolderId, Key, Kind, Leases, Limit, Loss, ManualClock, Name, Owner,
    Quota, Refresh, Refreshed, Ttl, TtlBounds,
};

use crate::{Case, Setting, listed};

/// A backend and its time.
pub struct Bare {
    backend: Arc<dyn Backend>,
    time: ManualClock,
    /// What lives as long as they.
    _setting: Setting,
}

/// Every case.
pub const ALL: &[Case<Bare>] = listed![
    a_repeated_ask_takes_no_second_place,
    a_repeated_ask_keeps_its_place_in_line,
    leave_gives_back_an_undelivered_grant,
    a4_leave_and_release_touch_nobody_elses,
    a_refusal_writes_nothing,
    a_batch_is_answered_each_in_its_place,
    a_refresh_of_nothing_is_lost_and_makes_nothing,
    release_is_idempotent,
    revoke_ends_one_slot_or_all,
    a_revocation_is_told_to_who_listens,
    a_superseded_holder_is_told_so_until_its_end,
    a_wake_between_watch_and_ask_is_kept,
    a_line_has_at_most_10_000_waiters,
];

const SECOND: Duration = Duration::from_secs(1);

impl Bare {
    /// A setting's backend, with nothing around it.
    pub fn new(setting: Setting) -> Self {
        let (backend, time) = (Arc::clone(&setting.backend), setting.time.clone());
        Bare { backend, time, _setting: setting }
    }

    fn key(&self, kind: Kind, name: &str) -> Key {
        Key { kind, name: Name::new(name).expect("a name") }
    }

    async fn ask(&self, ask: &Ask) -> Answer {
        self.backend.ask(ask).await.expect("the backend answers")
    }

    async fn granted(&self, ask: &Ask) -> Granted {
        match self.ask(ask).await {
            Answer::Granted(granted) => granted,
            other => panic!("it must be granted: {other:?}"),
        }
    }

    async fn view(&self, key: &Key) -> KeyView {
        self.backend.inspect(key).await.expect("the backend answers")
    }

    async fn refresh(&self, key: &Key, holder: HolderId) -> Refreshed {
        let batch = [Refresh { key: key.clone(), holder, extend: Extend::Hold(ttl(SECOND)) }];
        let answers = self.backend.refresh(&batch).await.expect("the backend answers");
        assert_eq!(answers.len(), 1);
        answers[0]
    }
}

fn ttl(ttl: Duration) -> Ttl {
    Ttl::new(ttl, TtlBounds::default()).expect("a ttl")
}

fn ask(key: &Key, limit: u32, mode: Mode) -> Ask {
    Ask {
        key: key.clone(),
        limit: Limit::new(limit).expect("a limit"),
        holder: HolderId::random(),
        owner: None,
        ttl: ttl(SECOND),
        max_hold: None,
        note: None,
        mode,
    }
}

fn waiting() -> Mode {
    Mode::Wait { patience: 3 * SECOND }
}

async fn a_repeated_ask_takes_no_second_place(bare: Bare) {
    let key = bare.key(Kind::Semaphore, "a");
    let first = ask(&key, 2, Mode::Once);
    let granted = bare.granted(&first).await;
    bare.time.advance(SECOND / 2);
    let again = bare.granted(&first).await;
    assert_eq!((again.slot, again.fence), (granted.slot, granted.fence));
    assert_eq!(again.ends_in, SECOND, "its end is set from now");
    assert_eq!(bare.view(&key).await.holders.len(), 1);
}

async fn a_repeated_ask_keeps_its_place_in_line(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    bare.granted(&ask(&key, 1, Mode::Once)).await;
    let (first, second) = (ask(&key, 1, waiting()), ask(&key, 1, waiting()));
    for (ask, place) in [(&first, 0), (&second, 1), (&first, 0), (&second, 1)] {
        match bare.ask(ask).await {
            Answer::Waiting { position, retry_in } => {
                assert_eq!(position, place);
                assert!(retry_in > Duration::ZERO && retry_in <= SECOND, "{retry_in:?}");
            }
            other => panic!("it must wait: {other:?}"),
        }
    }
    assert_eq!(bare.view(&key).await.waiters.len(), 2);
}

async fn leave_gives_back_an_undelivered_grant(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    let lost_reply = ask(&key, 1, Mode::Once);
    bare.granted(&lost_reply).await;
    let next = ask(&key, 1, waiting());
    assert!(matches!(bare.ask(&next).await, Answer::Waiting { .. }));
    bare.backend.leave(&key, lost_reply.holder).await.unwrap();
    bare.granted(&next).await;
}

/// Case A4: one who holds nothing and waits for nothing changes nothing.
async fn a4_leave_and_release_touch_nobody_elses(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    bare.granted(&ask(&key, 1, Mode::Once)).await;
    bare.ask(&ask(&key, 1, waiting())).await;
    let before = bare.view(&key).await;
    let stranger = HolderId::random();
    assert!(bare.backend.release(&key, stranger).await.unwrap().is_err());
    bare.backend.leave(&key, stranger).await.unwrap();
    assert_eq!(bare.view(&key).await, before);
}

async fn a_refusal_writes_nothing(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    bare.granted(&ask(&key, 1, Mode::Once)).await;
    let before = bare.view(&key).await;
    for _ in 0..10 {
        match bare.ask(&ask(&key, 1, Mode::Once)).await {
            Answer::Busy { retry_in } => assert_eq!(retry_in, SECOND),
            other => panic!("it must be refused: {other:?}"),
        }
    }
    assert_eq!(bare.view(&key).await, before);
}

async fn a_batch_is_answered_each_in_its_place(bare: Bare) {
    let mut batch = Vec::new();
    for name in ["a", "b", "c"] {
        let ask = ask(&bare.key(Kind::Lease, name), 1, Mode::Once);
        bare.granted(&ask).await;
        let extend = Extend::Hold(ttl(2 * SECOND));
        batch.push(Refresh { key: ask.key, holder: ask.holder, extend });
    }
    batch[1].holder = HolderId::random();
    let answers = bare.backend.refresh(&batch).await.unwrap();
    let held = |answer: &Refreshed| matches!(answer, Refreshed::Held { .. });
    assert_eq!(answers.iter().map(held).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(answers[1], Refreshed::Lost(Loss::Expired));
    assert_eq!(bare.backend.refresh(&[]).await.unwrap(), []);
}

async fn a_refresh_of_nothing_is_lost_and_makes_nothing(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    let refreshed = bare.refresh(&key, HolderId::random()).await;
    assert_eq!(refreshed, Refreshed::Lost(Loss::Expired));
    assert_eq!(bare.view(&key).await, KeyView::default());
    bare.granted(&ask(&key, 1, Mode::Once)).await;
}

async fn release_is_idempotent(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    let first = ask(&key, 1, Mode::Once);
    bare.granted(&first).await;
    assert_eq!(bare.backend.release(&key, first.holder).await.unwrap(), Ok(()));
    let second = ask(&key, 1, Mode::Once);
    bare.granted(&second).await;
    assert!(bare.backend.release(&key, first.holder).await.unwrap().is_err());
    assert_eq!(bare.backend.release(&key, second.holder).await.unwrap(), Ok(()));
}

async fn revoke_ends_one_slot_or_all(bare: Bare) {
    let key = bare.key(Kind::Semaphore, "a");
    let asks: Vec<Ask> = (0..40).map(|_| ask(&key, 40, Mode::Once)).collect();
    for ask in &asks {
        bare.granted(ask).await;
    }
    assert_eq!(bare.backend.revoke(&key, Some(7)).await.unwrap(), 1);
    assert_eq!(bare.backend.revoke(&key, Some(7)).await.unwrap(), 0);
    assert_eq!(bare.refresh(&key, asks[7].holder).await, Refreshed::Lost(Loss::Revoked));
    assert!(matches!(bare.refresh(&key, asks[8].holder).await, Refreshed::Held { .. }));
    assert_eq!(bare.backend.revoke(&key, None).await.unwrap(), 39);
    for ask in &asks {
        assert_eq!(bare.refresh(&key, ask.holder).await, Refreshed::Lost(Loss::Revoked));
    }
}

/// Whoever listens on the backend that revokes; and nobody else, and nobody who stopped listening.
async fn a_revocation_is_told_to_who_listens(bare: Bare) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let tell = {
        let heard = Arc::clone(&heard);
        Arc::new(move |holders: &[HolderId]| heard.lock().unwrap().extend_from_slice(holders))
    };
    let hearing = bare.backend.on_revoked(tell);
    let key = bare.key(Kind::Semaphore, "a");
    let asks: Vec<Ask> = (0..3).map(|_| ask(&key, 3, Mode::Once)).collect();
    for ask in &asks {
        bare.granted(ask).await;
    }
    assert_eq!(bare.backend.revoke(&key, Some(1)).await.unwrap(), 1);
    // Perhaps twice: by the backend, and by this process.
    assert_eq!(heard.lock().unwrap().first(), Some(&asks[1].holder));
    assert!(heard.lock().unwrap().iter().all(|holder| *holder == asks[1].holder));
    bare.backend.release(&key, asks[0].holder).await.unwrap().unwrap();
    drop(hearing);
    assert_eq!(bare.backend.revoke(&key, None).await.unwrap(), 1);
    assert!(!heard.lock().unwrap().contains(&asks[2].holder));
}

async fn a_superseded_holder_is_told_so_until_its_end(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    let owner = Some(Owner::new("job").expect("an owner"));
    let asks: Vec<Ask> =
        (0..3).map(|_| Ask { owner: owner.clone(), ..ask(&key, 1, Mode::Once) }).collect();
    for ask in &asks {
        bare.granted(ask).await;
    }
    for former in &asks[..2] {
        assert_eq!(bare.refresh(&key, former.holder).await, Refreshed::Lost(Loss::Superseded));
    }
    assert!(matches!(bare.refresh(&key, asks[2].holder).await, Refreshed::Held { .. }));
}

async fn a_wake_between_watch_and_ask_is_kept(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    let holding = ask(&key, 1, Mode::Once);
    bare.granted(&holding).await;
    let next = ask(&key, 1, waiting());
    let watch = bare.backend.watch(&key, next.holder);
    assert!(matches!(bare.ask(&next).await, Answer::Waiting { .. }));
    bare.backend.release(&key, holding.holder).await.unwrap().unwrap();
    watch.woken().await;
    bare.granted(&next).await;
}

async fn a_line_has_at_most_10_000_waiters(bare: Bare) {
    let key = bare.key(Kind::Lease, "a");
    let holding = ask(&key, 1, Mode::Once);
    bare.granted(&holding).await;
    let waiters: Vec<Ask> = (0..10_000).map(|_| ask(&key, 1, waiting())).collect();
    for (place, waiter) in (0..).zip(&waiters) {
        match bare.ask(waiter).await {
            Answer::Waiting { position, .. } => assert_eq!(position, place),
            other => panic!("it must wait: {other:?}"),
        }
    }
    let one_more = ask(&key, 1, waiting());
    assert_eq!(bare.ask(&one_more).await, Answer::LineFull);
    assert_eq!(bare.view(&key).await.waiters.len(), 10_000);
    assert!(matches!(bare.ask(&waiters[5000]).await, Answer::Waiting { position: 5000, .. }));
    let leases = Leases::builder(Arc::clone(&bare.backend)).clock(bare.time.clock()).build();
    let refused = leases.lease("a").expect("a name").wait(SECOND).acquire().await;
    let refused = refused.map_err(|error| error.kind().clone()).err();
    assert_eq!(refused, Some(ErrorKind::OverQuota(Quota::Line)));
    bare.backend.leave(&key, waiters[0].holder).await.unwrap();
    assert!(matches!(bare.ask(&one_more).await, Answer::Waiting { position: 9_999, .. }));
    bare.backend.release(&key, holding.holder).await.unwrap().unwrap();
    bare.granted(&waiters[1]).await;
}
