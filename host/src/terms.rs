//! The terms of a hold: values that can't be out of bounds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::invalid::{Argument, Invalid};
use crate::name::{check_text, joined};
use crate::policy::PLUGIN_BYTES_MAX;

/// The most places of a semaphore.
pub const LIMIT_MAX: u32 = 1000;
/// The longest max-hold.
pub const MAX_HOLD_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The most bytes in an owner.
pub const OWNER_BYTES_MAX: usize = 128;
/// The most bytes in a note.
pub const NOTE_BYTES_MAX: usize = 256;

/// How long a hold lasts unless it is refreshed. Whole microseconds, never zero.
///
/// ```
/// use std::time::Duration;
/// use leases::{Ttl, TtlBounds};
///
/// let ttl = Ttl::new(Duration::from_secs(60), TtlBounds::default())?;
/// assert_eq!(ttl.as_duration(), Duration::from_secs(60));
/// let refused = Ttl::new(Duration::ZERO, TtlBounds::default()).unwrap_err();
/// assert_eq!(refused.to_string(), "invalid ttl: 10ms to 86400s, not 0ns");
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ttl(Duration);

/// The least and greatest ttl: 10 ms to 24 h unless the program says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TtlBounds {
    min: Duration,
    max: Duration,
}

/// The longest that a hold may last, however often it is refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaxHold(Duration);

/// How many may hold at once: 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(u32);

/// Who holds: 1 to 128 bytes without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner(Arc<str>);

/// For people who look at who holds what: at most 256 bytes without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note(Arc<str>);

impl Ttl {
    /// Checks a ttl and rounds it up to whole microseconds.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(ttl: Duration, bounds: TtlBounds) -> Result<Self, Invalid> {
        if ttl < bounds.min || ttl > bounds.max {
            let bound = format!("{:?} to {:?}, not {ttl:?}", bounds.min, bounds.max);
            return Err(Invalid::new(Argument::Ttl, bound));
        }
        Ok(Ttl(round_up(ttl)))
    }

    /// Checks a ttl in seconds, as configuration files and scripts write it.
    ///
    /// # Errors
    /// [`Invalid`] for what is out of bounds, negative, infinite or not a number.
    ///
    /// ```
    /// use leases::{Ttl, TtlBounds};
    ///
    /// for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
    ///     assert!(Ttl::from_secs_f64(bad, TtlBounds::default()).is_err());
    /// }
    /// ```
    pub fn from_secs_f64(secs: f64, bounds: TtlBounds) -> Result<Self, Invalid> {
        match Duration::try_from_secs_f64(secs) {
            Ok(ttl) => Ttl::new(ttl, bounds),
            Err(_) => {
                let bound = format!("{:?} to {:?}, not {secs} s", bounds.min, bounds.max);
                Err(Invalid::new(Argument::Ttl, bound))
            }
        }
    }

    /// The length of time.
    pub fn as_duration(self) -> Duration {
        self.0
    }

    /// What a holder's own deadline leaves off, so that it stops before the backend's end: a tenth
    /// of the ttl, at most a second.
    pub(crate) fn margin(self) -> Duration {
        (self.0 / 10).min(Duration::from_secs(1))
    }
}

impl TtlBounds {
    /// Bounds of a program's own.
    ///
    /// # Errors
    /// [`Invalid`] unless 1 us <= `min` <= `max` <= 30 days.
    pub fn new(min: Duration, max: Duration) -> Result<Self, Invalid> {
        if min < Duration::from_micros(1) || min > max || max > MAX_HOLD_MAX {
            let bound = format!("bounds of 1us to {MAX_HOLD_MAX:?} in order, not {min:?}, {max:?}");
            return Err(Invalid::new(Argument::Ttl, bound));
        }
        Ok(TtlBounds { min, max })
    }

    /// These, but none greater than `max`.
    pub(crate) fn at_most(self, max: Ttl) -> Self {
        TtlBounds { min: self.min, max: self.max.min(max.0) }
    }

    /// These, but none less than `min`, or than the greatest if that is less.
    pub(crate) fn at_least(self, min: Duration) -> Self {
        TtlBounds { min: self.min.max(min.min(self.max)), max: self.max }
    }
}

impl Default for TtlBounds {
    fn default() -> Self {
        TtlBounds { min: Duration::from_millis(10), max: Duration::from_secs(24 * 60 * 60) }
    }
}

impl MaxHold {
    /// Checks a max-hold: from the least ttl to 30 days.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(max_hold: Duration, bounds: TtlBounds) -> Result<Self, Invalid> {
        if max_hold < bounds.min || max_hold > MAX_HOLD_MAX {
            let bound = format!("{:?} to {MAX_HOLD_MAX:?}, not {max_hold:?}", bounds.min);
            return Err(Invalid::new(Argument::MaxHold, bound));
        }
        Ok(MaxHold(round_up(max_hold)))
    }

    /// The length of time.
    pub fn as_duration(self) -> Duration {
        self.0
    }
}

impl Limit {
    /// The limit of a lease.
    pub const ONE: Limit = Limit(1);

    /// Checks a limit.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(limit: u32) -> Result<Self, Invalid> {
        if !(1..=LIMIT_MAX).contains(&limit) {
            return Err(Invalid::new(Argument::Limit, format!("1 to {LIMIT_MAX}, not {limit}")));
        }
        Ok(Limit(limit))
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Owner {
    /// Checks an owner.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(owner: impl AsRef<str>) -> Result<Self, Invalid> {
        let owner = owner.as_ref();
        check_text(Argument::Owner, owner, 1, OWNER_BYTES_MAX)?;
        Ok(Owner(owner.into()))
    }

    /// An owner as it was: a plugin's own has the plugin's identity before it.
    pub(crate) fn restored(owner: &str) -> Result<Self, Invalid> {
        check_text(Argument::Owner, owner, 1, OWNER_BYTES_MAX + 1 + PLUGIN_BYTES_MAX)?;
        Ok(Owner(owner.into()))
    }

    /// A plugin's own of a checked text, which no other plugin's can equal: a plugin's identity has no
    /// slash.
    pub(crate) fn of_plugin(plugin: &str, owner: &str) -> Self {
        Owner(joined([plugin, "/", owner]))
    }

    /// Such an owner as the plugin gave it.
    pub(crate) fn as_plugins_own(&self, plugin: &str) -> &str {
        let given = self.0.strip_prefix(plugin).and_then(|rest| rest.strip_prefix('/'));
        given.unwrap_or(&self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Note {
    /// Checks a note.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(note: impl AsRef<str>) -> Result<Self, Invalid> {
        let note = note.as_ref();
        check_text(Argument::Note, note, 0, NOTE_BYTES_MAX)?;
        Ok(Note(note.into()))
    }

    /// A note of a text that was checked.
    pub(crate) fn restored(note: &str) -> Self {
        Note(note.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Up to whole microseconds, the resolution of every backend.
fn round_up(duration: Duration) -> Duration {
    let beyond = duration.subsec_nanos() % 1000;
    let missing = if beyond == 0 { 0 } else { 1000 - beyond };
    duration.saturating_add(Duration::from_nanos(missing.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ttl_is_rounded_up_and_never_zero() {
        let bounds = TtlBounds::new(Duration::from_micros(1), Duration::from_secs(1)).unwrap();
        let ttl = Ttl::new(Duration::from_nanos(1001), bounds).unwrap();
        assert_eq!(ttl.as_duration(), Duration::from_micros(2));
        assert!(Ttl::new(Duration::from_nanos(1), bounds).is_err());
    }

    #[test]
    fn a_limit_is_1_to_1000() {
        assert!(Limit::new(0).is_err());
        assert_eq!(Limit::new(1000).unwrap().get(), 1000);
        assert_eq!(Limit::new(1001).unwrap_err().to_string(), "invalid limit: 1 to 1000, not 1001");
    }

    #[test]
    fn owners_of_two_plugins_never_meet() {
        let owner = Owner::of_plugin("a", "b/c");
        assert_ne!(owner, Owner::of_plugin("b", "c"));
        assert_eq!(owner.as_str(), "a/b/c");
        assert_eq!(owner.as_plugins_own("a"), "b/c");
    }
}
