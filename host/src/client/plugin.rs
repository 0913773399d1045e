//! What a host sees and ends of one plugin, whoever has the handles.

use std::sync::Arc;

use super::leases::Leases;
use super::live::Entry;
use super::vitals::Vitals;
use crate::error::Loss;
use crate::holder::HolderId;
use crate::policy::{PluginHold, PluginView, Usage, Usages};

impl Leases {
    pub(crate) fn usages(&self) -> &Usages {
        &self.shared().usages
    }

    /// What a plugin holds and waits for.
    pub(crate) fn view_of(&self, usage: &Arc<Usage>) -> PluginView {
        view(&self.shared().live.all_of(usage))
    }

    /// Ends all of it; answers what it was.
    pub(crate) fn revoke_all_of(&self, usage: &Arc<Usage>) -> PluginView {
        // First, so that an ask that is granted meanwhile sees it, and gives back what it got.
        usage.revoke();
        let entries = self.shared().live.all_of(usage);
        let revoked = view(&entries);
        for (holder, entry) in &entries {
            self.shared().end(*holder, entry, Loss::Revoked);
        }
        revoked
    }
}

fn view(entries: &[(HolderId, Entry)]) -> PluginView {
    let mut view = PluginView::default();
    for (_, entry) in entries {
        match entry {
            Entry::Hold(vitals, _) => view.holds.push(seen(vitals)),
            Entry::Ask(key, _) => view.waits.push(key.clone()),
            Entry::Leaving(..) => {}
        }
    }
    view.holds.sort_unstable_by(|a, b| (&a.key, a.slot).cmp(&(&b.key, b.slot)));
    view.waits.sort_unstable();
    view
}

fn seen(vitals: &Vitals) -> PluginHold {
    PluginHold {
        key: vitals.of.key.clone(),
        slot: vitals.of.slot,
        fence: vitals.of.fence,
        owner: vitals.of.owner.clone(),
        remaining: vitals.remaining(),
        loss: vitals.loss(),
    }
}
