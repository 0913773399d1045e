//! How many names a plugin uses: each leaves a record with the backend, for as long as that
//! remembers it.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
    used: HashSet<u64>,
}

impl Names {
    pub(super) fn new() -> Self {
        let day = Day { ends_at: Moment::from_nanos(0), used: HashSet::new() };
        Names { keys: RandomState::new(), day: Mutex::new(day) }
    }

    /// Uses a name; says whether it may be one more.
    pub(super) fn uses(&self, name: impl Hash, per_day: u32, now: Moment) -> bool {
        let hash = self.keys.hash_one(name);
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        if day.ends_at <= now {
            *day = Day { ends_at: now.after(DAY), used: HashSet::new() };
        }
        if day.used.contains(&hash) {
            return true;
        }
        let is_room = day.used.len() < usize::try_from(per_day).unwrap_or(usize::MAX);
        is_room && day.used.insert(hash)
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
        let uses = |name: &str| names.uses(name, 2, clock.now());
        assert!(uses("a") && uses("b") && uses("a"));
        assert!(!uses("c") && !uses("d"));
        time.advance(DAY - Duration::from_secs(1));
        assert!(uses("b") && !uses("c"));
        time.advance(Duration::from_secs(1));
        assert!(uses("c") && uses("d") && !uses("a"));
    }
}
