//! What is read of a key is enough: whatever is answered, and whoever is woken, is as if all were.

use rand::RngExt as _;
use rand::rngs::StdRng;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use super::*;
use crate::backend::{Extend, Refresh, Refreshed};
use crate::clock::Timestamp;
use crate::holder::HolderMap;
use crate::spec::{Change, KeyState, Rules, StoredKey, Ticket};
use crate::terms::Owner;

/// All of a key, in memory, as the database has it.
#[derive(Default)]
struct Reference {
    state: KeyState,
    last_fence: u64,
    /// When each is to ask, as the database has it: it may have told one to ask sooner than it must.
    asks_at: HolderMap<Timestamp>,
}

impl Reference {
    /// Runs a transition on what was stored, all of which is read.
    fn change<T>(&mut self, by: impl FnOnce(&mut KeyState) -> Change<T>) -> Change<T> {
        let fences = self.state.grants().map(|(_, grant)| grant.fence.as_u64());
        self.last_fence = fences.max().unwrap_or_default().max(self.last_fence);
        let last_number = self.state.tickets().map(|ticket| ticket.number).max();
        self.state = KeyState::restored(StoredKey {
            last_fence: self.last_fence,
            grants: self.state.grants().map(|(slot, grant)| (slot, grant.clone())).collect(),
            unseen: None,
            tickets: self.state.tickets().map(|ticket| self.as_told(ticket)).collect(),
            next_ticket: last_number.map_or(0, |last| last + 1),
            gap: None,
            departed: self.state.departed().cloned().collect(),
        });
        by(&mut self.state)
    }

    fn as_told(&self, ticket: &Ticket) -> Ticket {
        let told = self.asks_at.get(&ticket.holder).expect("it is in line there too");
        assert!(*told <= ticket.asks_at, "{ticket:?} was told to sleep until {told:?}");
        Ticket { asks_at: *told, ..ticket.clone() }
    }
}

#[tokio::test]
async fn who_is_not_read_does_not_matter() {
    let time = ManualClock::new();
    let (store, folder) = store(&time).await;
    let url = format!("sqlite:{}", folder.0.join("leases.db").display());
    let mut beside = SqliteConnection::connect(&url).await.unwrap();
    for seed in 0..36 {
        let mut random: StdRng = rand::SeedableRng::seed_from_u64(seed);
        let limit_max = 1 + seed as u32 % 4;
        let pass_max = [200, 700, 1200][seed as usize / 4 % 3];
        let kind = if limit_max == 1 { Kind::Lease } else { Kind::Semaphore };
        let key = Key { kind, ..ask(&format!("key {seed}"), WAIT).key };
        let mut reference = Reference::default();
        for _ in 0..150 {
            time.advance(Duration::from_millis(random.random_range(0..pass_max)));
            let now = time.clock().timestamp();
            let step = Step { key: &key, limit_max, now };
            step.take(&*store, &mut reference, &mut random).await;
            reference.asks_at = asks_at(&mut beside, &key).await;
            let view = store.inspect(&key, &Attempt::default()).await.unwrap();
            assert_eq!(view, reference.state.view(now));
        }
    }
    beside.close().await.unwrap();
}

async fn asks_at(beside: &mut SqliteConnection, key: &Key) -> HolderMap<Timestamp> {
    let all = sqlx::query("SELECT holder, asks_at FROM leases_tickets WHERE name = ?");
    let rows = all.bind(key.name.as_str().as_bytes()).fetch_all(beside).await.unwrap();
    let one = |row: &sqlx::sqlite::SqliteRow| {
        let holder = HolderId::from_bytes(row.get::<Vec<u8>, _>(0).try_into().unwrap());
        (holder, Timestamp::from_micros(row.get::<i64, _>(1) as u64))
    };
    rows.iter().map(one).collect()
}

struct Step<'a> {
    key: &'a Key,
    limit_max: u32,
    now: Timestamp,
}

impl Step<'_> {
    async fn take(&self, store: &dyn Store, reference: &mut Reference, random: &mut StdRng) {
        let (now, rules, attempt) = (self.now, Rules::default(), Attempt::default());
        let holder = HolderId::from_bytes([random.random_range(0..30); 16]);
        let of = Holding { key: self.key.clone(), holder };
        match random.random_range(0..12) {
            0..6 => self.ask(holder, store, reference, random).await,
            6 | 7 => self.refresh(holder, store, reference, random).await,
            8 | 9 => {
                let change = store.release(&of, &attempt).await.unwrap();
                same(change, reference.change(|state| state.release(holder, now, &rules)), &of);
            }
            10 => {
                let change = store.leave(&of, &attempt).await.unwrap();
                same(change, reference.change(|state| state.leave(holder, now, &rules)), &of);
            }
            _ => {
                let change = store.revoke(self.key, Some(0), &attempt).await.unwrap();
                let wanted = reference.change(|state| state.revoke(Some(0), now, &rules));
                same(change, wanted, &"revoke");
            }
        }
    }

    async fn ask(
        &self,
        holder: HolderId,
        store: &dyn Store,
        reference: &mut Reference,
        random: &mut StdRng,
    ) {
        let owner = random.random_bool(0.2).then(|| random.random_range(0..3));
        let ask = Ask {
            key: self.key.clone(),
            holder,
            limit: Limit::new(random.random_range(1..=self.limit_max)).unwrap(),
            owner: owner.map(|owner| Owner::new(format!("owner {owner}")).unwrap()),
            ttl: ttl(random),
            ..ask("a", if random.random_bool(0.2) { Mode::Once } else { WAIT })
        };
        let change = store.ask(&ask, &Attempt::default()).await.unwrap();
        let mut wanted = reference.change(|state| state.ask(&ask, self.now, &Rules::default()));
        if let (
            Answer::Waiting { retry_in, .. } | Answer::Busy { retry_in },
            Answer::Waiting { retry_in: must, .. } | Answer::Busy { retry_in: must },
        ) = (change.answer, &mut wanted.answer)
        {
            in_time(retry_in, must);
        }
        same(change, wanted, &ask);
    }

    async fn refresh(
        &self,
        holder: HolderId,
        store: &dyn Store,
        reference: &mut Reference,
        random: &mut StdRng,
    ) {
        let (now, rules, patience) = (self.now, Rules::default(), 5 * SECOND);
        let extend = match random.random_bool(0.5) {
            true => Extend::Hold(ttl(random)),
            false => Extend::Ticket { patience },
        };
        let batch = [Refresh { key: self.key.clone(), holder, extend }];
        let change = store.refresh(&batch, &Attempt::default()).await.unwrap();
        let change = Change { answer: change.answer[0], wake: change.wake };
        let mut wanted = reference.change(|state| match extend {
            Extend::Hold(ttl) => state.refresh(holder, ttl, now, &rules),
            Extend::Ticket { .. } => state.sign_of_life(holder, patience, now, &rules),
        });
        if let (Refreshed::InLine { retry_in }, Refreshed::InLine { retry_in: must }) =
            (change.answer, &mut wanted.answer)
        {
            in_time(retry_in, must);
        }
        same(change, wanted, &batch);
    }
}

fn ttl(random: &mut StdRng) -> Ttl {
    let longest = if random.random_bool(0.5) { 4 } else { 60 };
    Ttl::new(random.random_range(1..=longest) * SECOND, TtlBounds::default()).unwrap()
}

/// One may be told to ask sooner than it must, and never at once where that is not now.
fn in_time(told: Duration, must: &mut Duration) {
    assert!(told <= *must && told.is_zero() == must.is_zero(), "{told:?}, and not {must:?}");
    *must = told;
}

fn same<T: std::fmt::Debug + PartialEq>(
    mut change: Change<T>,
    mut wanted: Change<T>,
    of: &dyn std::fmt::Debug,
) {
    for wake in [&mut change.wake, &mut wanted.wake] {
        wake.sort_unstable();
        wake.dedup();
    }
    assert_eq!(change, wanted, "{of:?}");
}
