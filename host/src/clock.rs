//! The one place that reads a clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

/// A clock: the machine's, or one that a test moves.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Manual(Arc<Manual>),
}

/// A clock that stands still until it is moved.
///
/// ```
/// use std::time::Duration;
/// use leases::ManualClock;
///
/// let time = ManualClock::new();
/// let before = time.clock().now();
/// time.advance(Duration::from_secs(5));
/// assert_eq!(time.clock().now().since(before), Duration::from_secs(5));
/// ```
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Manual>);

#[derive(Debug)]
struct Manual {
    nanos: AtomicU64,
    moved: Notify,
}

/// A point on a clock that goes on counting while the machine is suspended. Points of two clocks
/// can't be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// Microseconds since 1970 by a backend's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(u64);

/// Where a manual clock starts: 2026-01-01T00:00:00Z.
const MANUAL_START_US: u64 = 1_767_225_600_000_000;

/// How long the machine's timer is slept on before the clock is read again: its timer stands still
/// while the machine is suspended, the clock does not.
const SLEEP_MAX: Duration = Duration::from_secs(5);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Clock(Source::System)
    }

    /// Now.
    pub fn now(&self) -> Moment {
        match &self.0 {
            Source::System => Moment(system_nanos()),
            Source::Manual(manual) => Moment(manual.nanos.load(Ordering::Acquire)),
        }
    }

    /// Now, since 1970. It follows [`now`](Clock::now) from where the wall clock stood when the
    /// process first asked, so it never goes back or jumps while the process lives.
    pub fn timestamp(&self) -> Timestamp {
        match &self.0 {
            Source::System => {
                let start = SYSTEM_START.get_or_init(SystemStart::read);
                Timestamp(start.unix_us + (system_nanos().saturating_sub(start.nanos)) / 1000)
            }
            Source::Manual(_) => Timestamp(MANUAL_START_US + self.now().0 / 1000),
        }
    }

    /// Sleeps until `end`; returns at once when it has passed.
    ///
    /// # Cancellation
    /// Nothing happens.
    pub async fn sleep_until(&self, end: Moment) {
        match &self.0 {
            Source::System => loop {
                let left = end.since(self.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(SLEEP_MAX)).await;
            },
            Source::Manual(manual) => manual.sleep_until(end).await,
        }
    }
}

impl ManualClock {
    /// A clock that stands at the start of 2026.
    pub fn new() -> Self {
        ManualClock(Arc::new(Manual { nanos: AtomicU64::new(0), moved: Notify::new() }))
    }

    /// The clock to give to what is tested.
    pub fn clock(&self) -> Clock {
        Clock(Source::Manual(Arc::clone(&self.0)))
    }

    /// Moves the clock on and wakes whoever sleeps until then.
    pub fn advance(&self, by: Duration) {
        self.0.nanos.fetch_add(nanos(by), Ordering::AcqRel);
        self.0.moved.notify_waiters();
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Manual {
    async fn sleep_until(&self, end: Moment) {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if self.nanos.load(Ordering::Acquire) >= end.0 {
                return;
            }
            moved.await;
        }
    }
}

impl Moment {
    pub(crate) fn from_nanos(nanos: u64) -> Moment {
        Moment(nanos)
    }

    pub(crate) fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not.
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This much later.
    pub fn after(self, by: Duration) -> Moment {
        Moment(self.0.saturating_add(nanos(by)))
    }
}

impl Timestamp {
    /// The point `micros` after the start of 1970.
    pub fn from_micros(micros: u64) -> Self {
        Timestamp(micros)
    }

    /// Microseconds since the start of 1970.
    pub fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// This much later.
    pub fn after(self, by: Duration) -> Timestamp {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        Timestamp(self.0.saturating_add(micros))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

static SYSTEM_START: OnceLock<SystemStart> = OnceLock::new();

#[derive(Debug)]
struct SystemStart {
    nanos: u64,
    unix_us: u64,
}

impl SystemStart {
    fn read() -> Self {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let unix_us = u64::try_from(wall.as_micros()).unwrap_or(u64::MAX);
        SystemStart { nanos: system_nanos(), unix_us }
    }
}

/// The machine's clock that counts suspend: CLOCK_BOOTTIME on Linux.
#[cfg(unix)]
fn system_nanos() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const ID: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    // Darwin's monotonic clock counts suspend; the BSDs' does not.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const ID: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(ID);
    let secs = u64::try_from(now.tv_sec).unwrap_or_default();
    secs * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or_default()
}

#[cfg(not(unix))]
fn system_nanos() -> u64 {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    nanos(START.get_or_init(std::time::Instant::now).elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_sleep_ends_when_the_clock_gets_there() {
        let time = ManualClock::new();
        let clock = time.clock();
        let end = clock.now().after(Duration::from_secs(2));
        let sleeper = tokio::spawn(async move { clock.sleep_until(end).await });
        time.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        time.advance(Duration::from_secs(1));
        sleeper.await.unwrap();
    }

    #[test]
    fn the_system_clock_starts_at_the_wall_clock() {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let ours = Duration::from_micros(Clock::system().timestamp().as_micros());
        assert!(ours.abs_diff(wall) < Duration::from_secs(1), "{ours:?} {wall:?}");
    }
}
