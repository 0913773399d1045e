//! How often: a bucket of tokens.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Moment;

/// How often something may be done: so many times in a second, as many of them at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    per_second: Option<u32>,
}

/// A bucket that fills by a rate, and holds what comes in a second.
///
/// It keeps the moment at which it will be full again; a token moves that on by its share of a
/// second. Nothing has to fill it.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    full_at_nanos: AtomicU64,
}

const SECOND: u64 = Duration::from_secs(1).as_nanos() as u64;

impl Rate {
    /// As often as can be.
    pub const UNLIMITED: Rate = Rate { per_second: None };

    /// So many times a second.
    pub const fn per_second(times: u32) -> Self {
        Rate { per_second: Some(times) }
    }
}

impl Bucket {
    /// Takes a token, if there is one.
    pub(super) fn take(&self, rate: Rate, now: Moment) -> bool {
        let Some(per_second) = rate.per_second else { return true };
        let Some(share) = SECOND.checked_div(per_second.into()) else { return false };
        let now = now.as_nanos();
        let take = |full_at: u64| {
            let full_at = full_at.max(now) + share;
            (full_at - now <= SECOND).then_some(full_at)
        };
        self.full_at_nanos.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Whether it is as a new one.
    pub(super) fn is_full(&self, now: Moment) -> bool {
        self.full_at_nanos.load(Ordering::Relaxed) <= now.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn a_bucket_holds_a_second_and_fills_by_its_rate() {
        let (time, bucket) = (ManualClock::new(), Bucket::default());
        let (clock, rate) = (time.clock(), Rate::per_second(3));
        let taken = |times: u32| (0..times).filter(|_| bucket.take(rate, clock.now())).count();
        assert_eq!(taken(10), 3);
        time.advance(Duration::from_millis(333));
        assert_eq!(taken(10), 0);
        time.advance(Duration::from_millis(1));
        assert_eq!(taken(10), 1);
        time.advance(Duration::from_secs(3600));
        assert_eq!(taken(10), 3, "it holds no more than a second's");
    }

    #[test]
    fn the_least_and_the_greatest_rates() {
        let (time, bucket) = (ManualClock::new(), Bucket::default());
        let clock = time.clock();
        assert!(!bucket.take(Rate::per_second(0), clock.now()));
        for _ in 0..10_000 {
            assert!(bucket.take(Rate::UNLIMITED, clock.now()));
            assert!(bucket.take(Rate::per_second(u32::MAX), clock.now()));
        }
    }
}
