//! Bounds on the terms of holds.

use std::time::Duration;

use super::error::{PolicyError, Setting};
use crate::invalid::{Argument, Invalid};
use crate::terms::{Limit, MaxHold, Ttl, TtlBounds};

/// What a wait without a bound of its own is bounded by.
const WAIT_MAX_DEFAULT: Duration = Duration::from_secs(60);

/// Bounds as they were given, a plugin's or a grant's; what is none was not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bounds {
    pub(super) ttl_max: Option<Duration>,
    pub(super) hold_max: Option<Duration>,
    pub(super) wait_max: Option<Duration>,
    pub(super) limit_max: Option<u32>,
}

/// Bounds on the terms of the holds of one grant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermBounds {
    ttl_max: Option<Ttl>,
    hold_max: Option<MaxHold>,
    wait_max: Duration,
    limit_max: Option<Limit>,
}

impl Bounds {
    /// These, and where they say nothing others.
    pub(super) fn or(self, others: Bounds) -> Bounds {
        Bounds {
            ttl_max: self.ttl_max.or(others.ttl_max),
            hold_max: self.hold_max.or(others.hold_max),
            wait_max: self.wait_max.or(others.wait_max),
            limit_max: self.limit_max.or(others.limit_max),
        }
    }

    /// The bounds that they are. Each has the bounds of what it bounds.
    pub(super) fn checked(self) -> Result<TermBounds, PolicyError> {
        let ttls = TtlBounds::default();
        let ttl_max = self.ttl_max.map(|ttl_max| Ttl::new(ttl_max, ttls)).transpose();
        let hold_max = self.hold_max.map(|hold_max| MaxHold::new(hold_max, ttls)).transpose();
        let limit_max = self.limit_max.map(Limit::new).transpose();
        Ok(TermBounds {
            ttl_max: ttl_max.map_err(|bad| PolicyError::bound(Setting::TtlMax, &bad))?,
            hold_max: hold_max.map_err(|bad| PolicyError::bound(Setting::HoldMax, &bad))?,
            wait_max: self.wait_max.unwrap_or(WAIT_MAX_DEFAULT),
            limit_max: limit_max.map_err(|bad| PolicyError::bound(Setting::LimitMax, &bad))?,
        })
    }
}

impl TermBounds {
    /// Bounds of ttls, within others.
    pub(crate) fn ttls(&self, bounds: TtlBounds) -> TtlBounds {
        self.ttl_max.map_or(bounds, |ttl_max| bounds.at_most(ttl_max))
    }

    /// The max-hold of a hold that asks for this one.
    pub(crate) fn max_hold(&self, asked: Option<MaxHold>) -> Result<Option<MaxHold>, Invalid> {
        match (asked, self.hold_max) {
            (Some(asked), Some(most)) if asked > most => {
                let (asked, most) = (asked.as_duration(), most.as_duration());
                Err(Invalid::new(Argument::MaxHold, format!("at most {most:?}, not {asked:?}")))
            }
            (asked, most) => Ok(asked.or(most)),
        }
    }

    pub(crate) fn wait_max(&self) -> Duration {
        self.wait_max
    }

    /// Fails on a limit that is too great.
    pub(crate) fn check_limit(&self, limit: Limit) -> Result<(), Invalid> {
        match self.limit_max {
            Some(most) if limit > most => {
                Err(Invalid::new(Argument::Limit, format!("1 to {most}, not {limit}")))
            }
            _ => Ok(()),
        }
    }
}
