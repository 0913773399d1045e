//! The only proof of holding.

use std::fmt;

use rand::RngExt as _;

/// 16 random bytes, made for each ask and never shown to a guest: the only proof of holding, and
/// what makes a repeated ask the same ask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HolderId([u8; 16]);

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

/// Shows two bytes, enough to tell two apart in a log and too few to release what they hold.
impl fmt::Debug for HolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, ..] = self.0;
        write!(f, "HolderId({first:02x}{second:02x}..)")
    }
}
