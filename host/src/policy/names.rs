//! How many names a plugin uses: each leaves a record with the backend, for as long as that
//! remembers it.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashTable;

use crate::clock::Moment;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The names that a plugin has used in a day, as many of them as it may: by their hashes, whose
/// keys no plugin knows.
#[derive(Debug)]
pub(super) struct Names {
    keys: RandomState,
    day: Mutex<Day>,
}

#[derive(Debug)]
struct Day {
    ends_at: Moment,
    used: HashTable<u64>,
}

impl Names {
    pub(super) fn new() -> Self {
        let day = Day { ends_at: Moment::from_nanos(0), used: HashTable::new() };
        Names { keys: RandomState::new(), day: Mutex::new(day) }
    }

    /// Uses a name; says whether it may be one more, and whatever else it needs was there too: if
    /// not, it is not used.
    pub(super) fn uses(
        &self,
        name: impl Hash,
        per_day: u32,
        now: Moment,
        and: impl FnOnce() -> bool,
    ) -> bool {
        let hash = self.keys.hash_one(name);
        let mut day = self.lock();
        if day.ends_at <= now {
            *day = Day { ends_at: now.after(DAY), used: HashTable::new() };
        }
        if day.used.find(hash, |used| *used == hash).is_some() {
            return and();
        }
        let is_room = day.used.len() < usize::try_from(per_day).unwrap_or(usize::MAX);
        let may = is_room && and();
        if may {
            day.used.insert_unique(hash, hash, |used| *used);
        }
        may
    }

    /// Whether some are used on the day that it is.
    pub(super) fn are_some_used(&self, now: Moment) -> bool {
        let day = self.lock();
        day.ends_at > now && !day.used.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Day> {
        self.day.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn a_day_has_room_for_so_many_names_and_the_next_one_again() {
        let (time, names) = (ManualClock::new(), Names::new());
        let clock = time.clock();
        let uses = |name: &str| names.uses(name, 2, clock.now(), || true);
        assert!(uses("a") && uses("b") && uses("a"));
        assert!(!uses("c") && !uses("d"));
        time.advance(DAY - Duration::from_secs(1));
        assert!(uses("b") && !uses("c"));
        time.advance(Duration::from_secs(1));
        assert!(uses("c") && uses("d") && !uses("a"));
    }

    #[test]
    fn a_name_that_is_refused_for_something_else_is_not_used() {
        let (names, now) = (Names::new(), ManualClock::new().clock().now());
        assert!(!names.uses("a", 1, now, || false) && !names.are_some_used(now));
        assert!(names.uses("b", 1, now, || true) && names.are_some_used(now));
        assert!(!names.are_some_used(now.after(DAY)));
    }
}
