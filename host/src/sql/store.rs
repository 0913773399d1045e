//! What one database has to do.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use super::attempt::Attempt;
use super::error::Failure;
use super::listing::{Looked, Range};
use crate::backend::{Refresh, Refreshed};
use crate::error::Loss;
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::name::{Key, Kind};
use crate::spec::{Answer, Ask, Change, KeyView};

/// Something that is being done on a database.
pub(super) type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// The operations, each one try of one: carried out or rolled back. A [`Change`] tells whom of this
/// process to wake.
pub(super) trait Store: Debug + Send + Sync + 'static {
    fn ask<'a>(&'a self, ask: &'a Ask, attempt: &'a Attempt) -> Doing<'a, Change<Answer>>;

    fn refresh<'a>(
        &'a self,
        batch: &'a [Refresh],
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Vec<Refreshed>>>;

    fn release<'a>(
        &'a self,
        of: &'a Holding,
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Result<(), Loss>>>;

    fn leave<'a>(&'a self, of: &'a Holding, attempt: &'a Attempt) -> Doing<'a, Change<()>>;

    /// Answers whose grants it ended.
    fn revoke<'a>(
        &'a self,
        key: &'a Key,
        slot: Option<u32>,
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Vec<HolderId>>>;

    fn inspect<'a>(&'a self, key: &'a Key, attempt: &'a Attempt) -> Doing<'a, KeyView>;

    fn list<'a>(&'a self, range: &'a Range, attempt: &'a Attempt) -> Doing<'a, Vec<Looked>>;

    fn admit<'a>(
        &'a self,
        target: &'a Target,
        fence: Fence,
        attempt: &'a Attempt,
    ) -> Doing<'a, Verdict>;

    fn current<'a>(&'a self, target: &'a Target, attempt: &'a Attempt) -> Doing<'a, Option<Fence>>;

    /// Those who wait in this process and were woken, by this process or another, and have not
    /// asked since.
    fn woken<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, Vec<HolderId>>;

    /// Looks at the next few records and forgets those that were idle for the retention time.
    fn forget<'a>(
        &'a self,
        from: &'a Forgotten,
        retention: Duration,
        attempt: &'a Attempt,
    ) -> Doing<'a, Forgotten>;

    /// Applies the migrations that are missing; answers how many.
    fn migrate<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, u32>;

    /// The number of the last migration that was applied, if one was.
    fn version<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, Option<i64>>;
}

/// Whose hold or ticket an operation is about.
#[derive(Debug, Clone)]
pub(super) struct Holding {
    pub(super) key: Key,
    pub(super) holder: HolderId,
}

/// How far the forgetting of idle records has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Forgotten {
    /// All were looked at.
    #[default]
    All,
    /// The keys up to this one were looked at.
    Keys { kind: i16, name: String },
    /// All keys, and the guards up to this one, were looked at.
    Guards { name: String, slot: i32 },
}

/// How many records are looked at in one go.
pub(super) const LOOKED_AT_MAX: i32 = 200;

/// How long an ask that was given up, and may yet come, is refused.
pub(super) const LATE: Duration = Duration::from_secs(10 * 60);

/// As the tables have it.
pub(super) fn kind(kind: Kind) -> i16 {
    match kind {
        Kind::Lease => 1,
        Kind::Semaphore => 2,
    }
}

/// As the tables have it: -1 where a target has no slots.
pub(super) fn guarded_slot(target: &Target) -> i32 {
    target.slot.and_then(|slot| i32::try_from(slot).ok()).unwrap_or(-1)
}

/// Below 2^53, which is 285 years.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
