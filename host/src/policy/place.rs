//! What a plugin's ask carries along, so that it can't be turned to anything that is not allowed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::at_once::Waits;
use super::grant::Primitive;
use super::policy::{Granted, Policy};
use super::usage::{Remembered, Usage};
use crate::clock::Moment;
use crate::error::{Error, ErrorKind, Operation, Quota};
use crate::fence::Target;
use crate::invalid::{Argument, Invalid};
use crate::name::{Name, check_bytes, check_text};
use crate::terms::{Limit, MaxHold, Note, Owner, TtlBounds};

/// The least ttl of a plugin's hold that is kept alive. Refreshing it costs the plugin nothing, and
/// those that are refreshed with it wait for the answer a sixth of the shortest ttl among them: if
/// that were less than the backend needs, a plugin could have everybody's refreshes given up.
const KEPT_TTL_MIN: Duration = Duration::from_secs(1);

/// What a plugin may do, and what it does.
#[derive(Debug)]
pub(crate) struct Rights {
    pub(super) policy: Policy,
    pub(super) usage: Arc<Usage>,
}

/// A name that a plugin may use, by one of its grants.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    rights: Arc<Rights>,
    granted: Arc<Granted>,
}

/// A plugin's ask for such a name, then its hold. It is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    allowed: Allowed,
    may_wait: AtomicBool,
    /// How often everything of its plugin was revoked before it began.
    revocations: u64,
}

impl Allowed {
    /// What allows this name, and what the name is where it is kept. Default deny.
    pub(crate) fn find(
        rights: &Arc<Rights>,
        name: &str,
        primitive: Primitive,
        operation: Operation,
    ) -> Result<(Name, Allowed), Error> {
        let found = rights.policy.find(name, primitive);
        match found.map_err(|bad| Error::invalid(bad, operation))? {
            None => Err(Error::new(ErrorKind::Denied, operation, None)),
            Some((granted, name)) => {
                let (rights, granted) = (Arc::clone(rights), Arc::clone(granted));
                Ok((name, Allowed { rights, granted }))
            }
        }
    }

    /// Another name for the same plugin.
    pub(crate) fn find_other(
        &self,
        name: &str,
        primitive: Primitive,
        operation: Operation,
    ) -> Result<(Name, Allowed), Error> {
        Allowed::find(&self.rights, name, primitive, operation)
    }

    /// A name as the plugin asked for it.
    pub(crate) fn seen<'a>(&self, kept: &'a Name) -> &'a str {
        kept.as_str().get(self.granted.prefix_bytes()..).unwrap_or_default()
    }

    pub(crate) fn ttls(&self, bounds: TtlBounds) -> TtlBounds {
        self.granted.bounds.ttls(bounds)
    }

    /// The same, of a hold that its host keeps alive.
    pub(crate) fn kept_ttls(&self, bounds: TtlBounds) -> TtlBounds {
        self.ttls(bounds).at_least(KEPT_TTL_MIN)
    }

    pub(crate) fn wait_max(&self) -> Duration {
        self.granted.bounds.wait_max()
    }

    pub(crate) fn max_hold(&self, asked: Option<MaxHold>) -> Result<Option<MaxHold>, Invalid> {
        self.granted.bounds.max_hold(asked)
    }

    pub(crate) fn check_limit(&self, limit: Limit) -> Result<(), Invalid> {
        self.granted.bounds.check_limit(limit)
    }

    /// An owner as the plugin's own.
    pub(crate) fn owner(&self, owner: &str) -> Result<Owner, Invalid> {
        let bytes_max = self.rights.policy.quotas.owner_bytes_max;
        if bytes_max == 0 {
            return Err(Invalid::new(Argument::Owner, "none is allowed"));
        }
        check_text(Argument::Owner, owner, 1, bytes_max)?;
        Ok(Owner::of_plugin(self.rights.usage.plugin().as_str(), owner))
    }

    /// An owner as the plugin gave it.
    pub(crate) fn seen_owner<'a>(&self, owner: &'a Owner) -> &'a str {
        owner.as_plugins_own(self.rights.usage.plugin().as_str())
    }

    /// Fails on a note that is too long.
    pub(crate) fn check_note(&self, note: &Note) -> Result<(), Invalid> {
        check_bytes(Argument::Note, note.as_str(), 0, self.rights.policy.quotas.note_bytes_max)
    }

    /// Counts an ask for this name from now on.
    pub(crate) fn place(&self, name: &Name, waits: Waits, now: Moment) -> Result<Place, Quota> {
        let Rights { policy, usage } = &*self.rights;
        let revocations = usage.revocations();
        usage.count(&policy.quotas, self.one_of_many((name, None)), waits, now)?;
        let may_wait = AtomicBool::new(waits == Waits::Yes);
        Ok(Place { allowed: self.clone(), may_wait, revocations })
    }

    /// Counts a call that leaves nothing behind.
    pub(crate) fn take_call(&self, now: Moment) -> Result<(), Quota> {
        self.rights.usage.take_call(&self.rights.policy.quotas, None, now)
    }

    /// Counts a call after which the backend remembers a target.
    pub(crate) fn take_admit(&self, target: &Target, now: Moment) -> Result<(), Quota> {
        let Rights { policy, usage } = &*self.rights;
        usage.take_call(&policy.quotas, self.one_of_many((&target.name, target.slot)), now)
    }

    /// It, where the grant has so many names that they are to be counted.
    fn one_of_many<'a>(&self, one: Remembered<'a>) -> Option<Remembered<'a>> {
        self.granted.has_many_names().then_some(one)
    }
}

impl Place {
    pub(crate) fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// It is a hold from now on.
    pub(crate) fn granted(&self) {
        if self.may_wait.swap(false, Ordering::AcqRel) {
            self.usage().at_once.granted();
        }
    }

    /// Whether it is of this plugin.
    pub(crate) fn is_of(&self, usage: &Arc<Usage>) -> bool {
        Arc::ptr_eq(self.usage(), usage)
    }

    /// Whether everything of its plugin was revoked since it began.
    pub(crate) fn is_revoked(&self) -> bool {
        self.usage().revocations() != self.revocations
    }

    /// Returns when it is revoked.
    pub(crate) async fn revoked(&self) {
        self.usage().revoked_since(self.revocations).await;
    }

    fn usage(&self) -> &Arc<Usage> {
        &self.allowed.rights.usage
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let waits = if *self.may_wait.get_mut() { Waits::Yes } else { Waits::No };
        self.usage().at_once.give_back(waits);
    }
}
