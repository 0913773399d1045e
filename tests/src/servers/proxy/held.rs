//! What a connection holds back.

use std::sync::Arc;

use super::control::Shared;

/// Bytes of one client that are not forwarded yet. They are counted until this is emptied or
/// dropped.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Vec<u8>,
    shared: Arc<Shared>,
}

impl Held {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Held { bytes: Vec::new(), shared }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.shared.more_held(bytes.len());
    }

    pub(super) fn clear(&mut self) {
        self.shared.less_held(self.bytes.len());
        self.bytes.clear();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.clear();
    }
}
