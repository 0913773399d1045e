//! What a host sees of one plugin.

use std::time::Duration;

use crate::error::Loss;
use crate::fence::Fence;
use crate::name::Key;
use crate::terms::Owner;

/// What a plugin holds and waits for, over all its instances in this process, in order of keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginView {
    /// What it holds, and what it lost and has not dropped; but not what was revoked, which is given
    /// back whoever has its handle.
    pub holds: Vec<PluginHold>,
    /// What it waits for, and what it asks for that was not answered yet.
    pub waits: Vec<Key>,
}

/// One hold of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginHold {
    /// What is held, where it is kept.
    pub key: Key,
    /// Which place.
    pub slot: u32,
    /// The number of the grant.
    pub fence: Fence,
    /// Who holds, with the plugin's identity before it.
    pub owner: Option<Owner>,
    /// How long it surely still lasts.
    pub remaining: Duration,
    /// Why it is gone, if it is.
    pub loss: Option<Loss>,
}
