//! The engine's transitions: pure functions over plain records.
//!
//! `(state of a key, what is asked, now) -> (state, answer)`. They read no clock, take no lock and
//! draw no random number. The memory backend is these functions behind a lock; every other backend
//! is another spelling of them, held to them by a randomised comparison.
//!
//! ```
//! use leases::spec::{Ask, Answer, KeyState, Mode, Rules};
//! use leases::{HolderId, Key, Kind, Limit, Name, Timestamp, Ttl, TtlBounds};
//! use std::time::Duration;
//!
//! let ask = Ask {
//!     key: Key { kind: Kind::Lease, name: Name::new("import:42")? },
//!     limit: Limit::ONE,
//!     holder: HolderId::from_bytes([1; 16]),
//!     owner: None,
//!     ttl: Ttl::new(Duration::from_secs(60), TtlBounds::default())?,
//!     max_hold: None,
//!     note: None,
//!     mode: Mode::Once,
//! };
//! let mut state = KeyState::default();
//! let now = Timestamp::from_micros(1_767_225_600_000_000);
//! let change = state.ask(&ask, now, &Rules::default());
//! let Answer::Granted(grant) = change.answer else { panic!("a free key is granted") };
//! assert_eq!(grant.fence.as_u64(), now.as_micros());
//! # Ok::<(), leases::Invalid>(())
//! ```

mod ask;
mod departed;
mod end;
mod grants;
mod guarded;
mod line;
#[cfg(any(feature = "sqlite", feature = "mysql"))]
mod stored;
mod view;

use std::time::Duration;

use crate::clock::Timestamp;
use crate::fence::Fence;
use crate::holder::HolderId;
use crate::name::Key;
use crate::terms::{Limit, MaxHold, Note, Owner, Ttl};

use departed::Departed;
use grants::Grants;
use line::Line;

pub use guarded::GuardState;
#[cfg(any(feature = "sqlite", feature = "mysql"))]
pub(crate) use stored::{Departure, Gap, Grant, StoredKey, Ticket, Unseen};
pub use view::{HolderView, KeyView, WaiterView};

/// What a client asks of a key.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The key.
    pub key: Key,
    /// How many may hold at once, this one included; 1 for a lease.
    pub limit: Limit,
    /// Whose ask this is. The same id again is the same ask again.
    pub holder: HolderId,
    /// The same owner takes its own live grant again.
    pub owner: Option<Owner>,
    /// How long the grant lasts unless it is refreshed.
    pub ttl: Ttl,
    /// The longest that it may last however often it is refreshed.
    pub max_hold: Option<MaxHold>,
    /// For people.
    pub note: Option<Note>,
    /// What happens when it can't be granted now.
    pub mode: Mode,
}

#[cfg(any(feature = "redis", feature = "postgres", feature = "sqlite", feature = "mysql"))]
impl Ask {
    /// What a lease that was free is granted: what was asked for.
    pub(crate) fn granted_as_asked(&self, fence: Fence) -> Granted {
        let ttl = self.ttl.as_duration();
        let max_hold = self.max_hold.map(|max_hold| max_hold.as_duration());
        let (ends_in, end) = match max_hold {
            Some(max_hold) if max_hold <= ttl => (max_hold, End::MaxHold),
            _ => (ttl, End::Ttl),
        };
        Granted { slot: 0, fence, ends_in, end }
    }
}

/// What happens to an ask that can't be granted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is refused.
    Once,
    /// It joins the line, or stays in it. Its ticket lapses unless it asks again within `patience`.
    Wait {
        /// How long the ticket lasts without a sign of life.
        patience: Duration,
    },
}

/// What an ask is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It holds.
    Granted(Granted),
    /// It is in line.
    Waiting {
        /// How many tickets are in front of it.
        position: u32,
        /// No later than the earliest moment at which anything ahead of it could lapse.
        retry_in: Duration,
    },
    /// It is refused.
    Busy {
        /// No later than the earliest moment at which anything ahead of it could lapse.
        retry_in: Duration,
    },
    /// It may not join: the line has its most waiters.
    LineFull,
}

/// A grant, as its holder is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// Which place.
    pub slot: u32,
    /// The number of the grant.
    pub fence: Fence,
    /// How long until it ends.
    pub ends_in: Duration,
    /// Whether it ends then because of its max-hold.
    pub end: End,
}

/// What sets the end of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its ttl: a refresh moves it on.
    Ttl,
    /// Its max-hold: nothing moves it on.
    MaxHold,
}

/// An answer, and whom it concerns besides the one who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<A> {
    /// The answer.
    pub answer: A,
    /// Waiters who should ask now: they can be admitted, or what they wait for moved nearer.
    pub wake: Vec<HolderId>,
}

/// The numbers that the transitions depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long a waiter that could be admitted, and was told so, holds up those behind it without
    /// asking.
    pub claim_time: Duration,
    /// The most waiters in a line.
    pub line_max: u32,
}

/// All that a backend knows of a key.
#[derive(Debug, Clone, Default)]
pub struct KeyState {
    last_fence: u64,
    last_end_us: u64,
    grants: Grants,
    line: Line,
    departed: Departed,
    /// The latest of the holds that were found to have ended by themselves, until the line is
    /// settled.
    ended_at: Option<Timestamp>,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { claim_time: Duration::from_secs(1), line_max: 10_000 }
    }
}

impl KeyState {
    /// When this record may be forgotten: `retention` after its last end, and not before the clock
    /// is past its last fence, so that the next one is greater without it. None while anybody holds
    /// or waits.
    pub fn idle_until(&mut self, now: Timestamp, retention: Duration) -> Option<Timestamp> {
        self.drop_lapsed(now);
        let idle = self.grants.live() == 0 && self.line.is_empty();
        let fence_passed = Timestamp::from_micros(self.last_fence.saturating_add(1));
        idle.then(|| Timestamp::from_micros(self.last_end_us).after(retention).max(fence_passed))
    }

    /// Rule 1, before anything is decided: what lapsed is gone, and whoever can be admitted since is
    /// called as of then. Who was silent since may be passed over by now.
    fn lapse(&mut self, now: Timestamp, rules: &Rules) -> Vec<HolderId> {
        self.drop_lapsed(now);
        self.settle(now, rules)
    }

    /// Grants that reached their end and tickets whose patience lapsed are gone.
    fn drop_lapsed(&mut self, now: Timestamp) {
        if let Some(last_end) = self.grants.drop_ended(now) {
            self.last_end_us = self.last_end_us.max(last_end.as_micros());
            self.ended_at = Some(last_end);
        }
        self.line.drop_lapsed(now);
        self.departed.forget_before(now);
    }

    /// Calls those in line who can now be admitted and were not called before, in order, up to the
    /// first who can't. Who was called holds up those behind for the claim time at most.
    ///
    /// The first one knew of the ends of holds: where one ended by itself it is called as of then,
    /// however late that is found.
    ///
    /// The first who can't is woken too when a hold ends before it would look again: a new hold may
    /// be shorter than what it waited for, and a refresh may have shortened one.
    fn settle(&mut self, now: Timestamp, rules: &Rules) -> Vec<HolderId> {
        let since = self.ended_at.take().unwrap_or(now);
        if self.line.is_empty() {
            return Vec::new();
        }
        let mut wake = self.line.call(self.grants.live(), since, now, rules);
        if let Some(end) = self.grants.earliest_end() {
            wake.extend(self.line.first_to_sleep_past(end));
        }
        wake
    }
}
