//! The only proof of holding.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use rand::RngExt as _;

/// 16 random bytes, made for each ask and never shown to a guest: the only proof of holding, and
/// what makes a repeated ask the same ask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HolderId([u8; 16]);

/// Values by holder id.
pub(crate) type HolderMap<V> = HashMap<HolderId, V, BuildHasherDefault<OwnBytes>>;

/// Takes a holder id's own bytes for its hash: they are random, and no guest chooses them.
#[derive(Debug, Default)]
pub(crate) struct OwnBytes(u64);

impl HolderId {
    /// A new id from the thread's cryptographic generator.
    pub fn random() -> Self {
        HolderId(rand::rng().random())
    }

    /// The id with these bytes, as a backend stored it.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        HolderId(bytes)
    }

    /// The bytes, as a backend stores them.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl Hash for HolderId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
    }
}

impl Hasher for OwnBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, first: u64) {
        self.0 = first;
    }
}

/// Shows two bytes, enough to tell two apart in a log and too few to release what they hold.
impl fmt::Debug for HolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, ..] = self.0;
        write!(f, "HolderId({first:02x}{second:02x}..)")
    }
}
