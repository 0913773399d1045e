//! What one plugin may do.

use std::sync::Arc;
use std::time::Duration;

use super::bounds::{Bounds, TermBounds};
use super::error::{PolicyError, Setting};
use super::grant::{Grant, Primitive};
use super::rate::Rate;
use crate::invalid::{Argument, Invalid};
use crate::name::{NAME_BYTES_MAX, Name, check_text};
use crate::pattern::NamePattern;
use crate::terms::{NOTE_BYTES_MAX, OWNER_BYTES_MAX};

/// What one plugin may do: what is not granted is denied.
///
/// ```
/// use leases::{Leases, NamePattern, PluginId, Policy, Scope};
///
/// let policy = Policy::allowing(["import:*", "uploads"])?;
/// let scope = Scope::new(Leases::memory(), PluginId::new("importer")?, policy);
/// assert!(scope.lease("import:42").is_ok());
/// assert!(scope.lease("exports").is_err());
/// # Ok::<(), leases::PolicyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    grants: Vec<Arc<Granted>>,
    pub(super) quotas: Quotas,
}

/// A grant as it is looked up.
#[derive(Debug)]
pub(crate) struct Granted {
    grant: Grant,
    pub(super) bounds: TermBounds,
}

/// A [`Policy`] in the making; what is wrong with it is told by [`build`](PolicyBuilder::build).
///
/// Unless told otherwise a plugin may hold 1,000 and wait for as many, acquire 1,000 times and call
/// 10,000 times a second, use 100,000 names a day, wait for 60 s, and has the bounds that every
/// program has.
#[derive(Debug, Clone)]
#[must_use = "build() makes the policy"]
pub struct PolicyBuilder {
    grants: Vec<Grant>,
    bounds: Bounds,
    held: u32,
    waiting: Option<u32>,
    acquires: Rate,
    calls: Rate,
    names_per_day: u32,
    owner_bytes_max: usize,
    note_bytes_max: usize,
}

/// How much a plugin may have at once, and ask for in a second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quotas {
    pub(super) held: u32,
    pub(super) waiting: u32,
    pub(super) acquires: Rate,
    pub(super) calls: Rate,
    pub(super) names_per_day: u32,
    pub(super) owner_bytes_max: usize,
    pub(super) note_bytes_max: usize,
}

const AT_ONCE_DEFAULT: u32 = 1000;
const ACQUIRES_DEFAULT: u32 = 1000;
const CALLS_DEFAULT: u32 = 10_000;
const NAMES_PER_DAY_DEFAULT: u32 = 100_000;

impl Policy {
    /// A policy that grants nothing until it is told.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder {
            grants: Vec::new(),
            bounds: Bounds::default(),
            held: AT_ONCE_DEFAULT,
            waiting: None,
            acquires: Rate::per_second(ACQUIRES_DEFAULT),
            calls: Rate::per_second(CALLS_DEFAULT),
            names_per_day: NAMES_PER_DAY_DEFAULT,
            owner_bytes_max: OWNER_BYTES_MAX,
            note_bytes_max: NOTE_BYTES_MAX,
        }
    }

    /// A policy that grants the names of these patterns for all three primitives.
    ///
    /// # Errors
    /// [`PolicyError`] for a pattern that is none, and for two that have names in common.
    pub fn allowing<P: AsRef<str>>(
        patterns: impl IntoIterator<Item = P>,
    ) -> Result<Self, PolicyError> {
        let mut policy = Policy::builder();
        for pattern in patterns {
            policy = policy.grant(Grant::new(NamePattern::new(pattern)?));
        }
        policy.build()
    }

    /// The grant that allows a plugin this name, and what the name is where it is kept; none: it is
    /// denied. Whether it may comes before all other checks but the name's own.
    pub(super) fn find(
        &self,
        name: &str,
        primitive: Primitive,
    ) -> Result<Option<(&Arc<Granted>, Name)>, Invalid> {
        check_text(Argument::Name, name, 1, NAME_BYTES_MAX)?;
        let allows = |granted: &&Arc<Granted>| granted.grant.allows(name, primitive);
        match self.grants.iter().find(allows) {
            None => Ok(None),
            Some(granted) => Ok(Some((granted, Name::behind(granted.grant.prefix_text(), name)?))),
        }
    }
}

impl Granted {
    /// Whether it grants more names than one.
    pub(super) fn has_many_names(&self) -> bool {
        self.grant.has_many_names()
    }

    /// How many bytes stand before the plugin's own name.
    pub(super) fn prefix_bytes(&self) -> usize {
        self.grant.prefix_text().len()
    }
}

impl PolicyBuilder {
    /// Grants these names too. Of each name and primitive one grant decides: two may not have both
    /// in common.
    pub fn grant(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self
    }

    /// How many holds the plugin may have at once, over all its instances. An ask counts from its
    /// start, as the hold that it may become; a hold until its handle is gone and it is given back.
    pub fn held(mut self, held: u32) -> Self {
        self.held = held;
        self
    }

    /// How many of its asks may wait at once: no more than it may hold, and as many unless said.
    pub fn waiting(mut self, waiting: u32) -> Self {
        self.waiting = Some(waiting);
        self
    }

    /// How often the plugin may acquire, whatever comes of it.
    pub fn acquires(mut self, rate: Rate) -> Self {
        self.acquires = rate;
        self
    }

    /// How often the plugin may refresh by hand and ask guards. What its host refreshes for it does
    /// not count, nor what it gives back.
    pub fn calls(mut self, rate: Rate) -> Self {
        self.calls = rate;
        self
    }

    /// How many names the plugin may use in a day, of grants that end in a `*`: in each process, by
    /// its own days. The backend remembers every name, and every target of a guard, for a day after
    /// its last use.
    pub fn names_per_day(mut self, names_per_day: u32) -> Self {
        self.names_per_day = names_per_day;
        self
    }

    /// The greatest ttl.
    pub fn ttl_max(mut self, ttl_max: Duration) -> Self {
        self.bounds.ttl_max = Some(ttl_max);
        self
    }

    /// The longest that a hold may last, however often it is refreshed and whatever is asked for. A
    /// plugin that gives an owner may take its own live hold again, whoever waits, and that is
    /// another one: where others are to have their turn, let it give none, with
    /// [`owner_bytes_max`](PolicyBuilder::owner_bytes_max).
    pub fn hold_max(mut self, hold_max: Duration) -> Self {
        self.bounds.hold_max = Some(hold_max);
        self
    }

    /// The longest that an ask may wait; one that wants to wait for longer waits for this long.
    pub fn wait_max(mut self, wait_max: Duration) -> Self {
        self.bounds.wait_max = Some(wait_max);
        self
    }

    /// The greatest limit of a semaphore.
    pub fn limit_max(mut self, limit_max: u32) -> Self {
        self.bounds.limit_max = Some(limit_max);
        self
    }

    /// The most bytes in an owner as the plugin gives it; with 0 it may give none.
    pub fn owner_bytes_max(mut self, owner_bytes_max: usize) -> Self {
        self.owner_bytes_max = owner_bytes_max;
        self
    }

    /// The most bytes in a note.
    pub fn note_bytes_max(mut self, note_bytes_max: usize) -> Self {
        self.note_bytes_max = note_bytes_max;
        self
    }

    /// Checks all of it.
    ///
    /// # Errors
    /// [`PolicyError`] for grants that overlap or let nothing through, for bounds that nothing
    /// could keep or reach, and for those beyond what every program has.
    pub fn build(self) -> Result<Policy, PolicyError> {
        self.bounds.checked()?;
        let quotas = self.quotas()?;
        let mut grants: Vec<Arc<Granted>> = Vec::new();
        for (number, grant) in self.grants.into_iter().enumerate() {
            let others = grants.iter().map(|granted| &granted.grant);
            let checked = grant.check(others).and_then(|()| grant.bounds.or(self.bounds).checked());
            let bounds = checked.map_err(|error| error.in_grant(number, &grant.names))?;
            grants.push(Arc::new(Granted { grant, bounds }));
        }
        let may_hold = |granted: &Arc<Granted>| granted.grant.may_hold();
        if quotas.held == 0 && grants.iter().any(may_hold) {
            return Err(PolicyError::of(Setting::Held, "0 lets no grant of a hold through"));
        }
        Ok(Policy { grants, quotas })
    }

    fn quotas(&self) -> Result<Quotas, PolicyError> {
        let PolicyBuilder { held, acquires, calls, names_per_day, .. } = *self;
        let PolicyBuilder { owner_bytes_max, note_bytes_max, .. } = *self;
        let waiting = self.waiting.unwrap_or(held);
        if waiting > held {
            let why = format!("{waiting} are never reached: an ask counts as held too, of {held}");
            return Err(PolicyError::of(Setting::Waiting, why));
        }
        for (setting, bytes, most) in [
            (Setting::OwnerBytesMax, owner_bytes_max, OWNER_BYTES_MAX),
            (Setting::NoteBytesMax, note_bytes_max, NOTE_BYTES_MAX),
        ] {
            if bytes > most {
                return Err(PolicyError::of(setting, format!("0 to {most}, not {bytes}")));
            }
        }
        for (setting, is_none) in [
            (Setting::AcquiresPerSecond, acquires == Rate::per_second(0)),
            (Setting::CallsPerSecond, calls == Rate::per_second(0)),
            (Setting::NamesPerDay, names_per_day == 0),
        ] {
            if is_none {
                return Err(PolicyError::of(setting, "1 or more, not 0"));
            }
        }
        Ok(Quotas {
            held,
            waiting,
            acquires,
            calls,
            names_per_day,
            owner_bytes_max,
            note_bytes_max,
        })
    }
}
