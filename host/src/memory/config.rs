//! What a memory backend can be told.

use std::time::Duration;

use crate::clock::Clock;

/// The settings of a memory backend.
///
/// ```
/// use leases::{Leases, ManualClock, MemoryBackend, MemoryConfig};
/// use std::sync::Arc;
///
/// let time = ManualClock::new();
/// let config = MemoryConfig { clock: time.clock(), ..MemoryConfig::default() };
/// let leases = Leases::builder(Arc::new(MemoryBackend::new(config))).clock(time.clock()).build();
/// # let _ = leases;
/// ```
#[derive(Debug, Clone)]
pub struct MemoryConfig {
    /// The backend's clock.
    pub clock: Clock,
    /// How long an idle name is remembered after its last end, and a guard after its last admit.
    pub retention: Duration,
}

impl Default for MemoryConfig {
    /// The machine's clock; a retention of 24 hours.
    fn default() -> Self {
        let retention = Duration::from_secs(24 * 60 * 60);
        MemoryConfig { clock: Clock::system(), retention }
    }
}
