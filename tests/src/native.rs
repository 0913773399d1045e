//! The native door: the Rust API.

use std::time::Duration;

use leases::{
    Error, ErrorKind, Fence, FenceToken, Kind, Lease, Leases, Permit, Request, SlotFence,
};

use crate::actor::{Failure, Seen, Verdict};
use crate::ask::Ask;

/// A Rust program.
#[derive(Clone)]
pub struct Program(pub(crate) Leases);

/// A hold of the Rust API.
pub enum Held {
    /// A lease.
    Lease(Lease),
    /// A permit.
    Permit(Permit),
}

impl Program {
    /// A program over this handle.
    pub fn new(leases: Leases) -> Self {
        Program(leases)
    }

    pub(crate) async fn acquire(&self, ask: Ask) -> Result<Held, Failure> {
        Ok(match ask.kind {
            Kind::Semaphore => {
                let semaphore = self.0.semaphore(&ask.name, ask.limit)?;
                Held::Permit(with_terms(semaphore, &ask).acquire().await?)
            }
            _ => Held::Lease(with_terms(self.0.lease(&ask.name)?, &ask).acquire().await?),
        })
    }

    pub(crate) async fn admit(
        &self,
        target: &str,
        slot: Option<u32>,
        fence: u64,
    ) -> Result<Verdict, Failure> {
        let guard = self.0.guard(target)?;
        let fence = Fence::new(fence).map_err(invalid)?;
        let token: FenceToken = match slot {
            None => fence.into(),
            Some(slot) => SlotFence::new(slot, fence).map_err(invalid)?.into(),
        };
        Ok(match guard.admit(token).await? {
            leases::Verdict::Admitted => Verdict::Admitted,
            leases::Verdict::Stale(greater) => Verdict::Stale(greater.as_u64()),
        })
    }

    pub(crate) async fn current(
        &self,
        target: &str,
        slot: Option<u32>,
    ) -> Result<Option<u64>, Failure> {
        let guard = self.0.guard(target)?;
        let current = match slot {
            None => guard.current().await?,
            Some(slot) => guard.current_slot(slot).await?,
        };
        Ok(current.map(Fence::as_u64))
    }
}

fn with_terms<H: leases::Hold>(request: Request<H>, ask: &Ask) -> Request<H> {
    let mut request = request.ttl(ask.ttl).wait(ask.wait);
    if ask.keep_alive {
        request = request.keep_alive();
    }
    if let Some(max_hold) = ask.max_hold {
        request = request.max_hold(max_hold);
    }
    if let Some(owner) = &ask.owner {
        request = request.owner(owner.as_str());
    }
    if let Some(note) = &ask.note {
        request = request.note(note.as_str());
    }
    request
}

impl Held {
    pub(crate) fn look(&self) -> Seen {
        match self {
            Held::Lease(lease) => Seen {
                name: lease.name().to_owned(),
                owner: lease.owner().map(str::to_owned),
                slot: None,
                fence: lease.fence().as_u64(),
                remaining: lease.remaining(),
                lost: lease.loss(),
            },
            Held::Permit(permit) => Seen {
                name: permit.name().to_owned(),
                owner: permit.owner().map(str::to_owned),
                slot: Some(permit.slot()),
                fence: permit.fence().fence.as_u64(),
                remaining: permit.remaining(),
                lost: permit.loss(),
            },
        }
    }

    pub(crate) async fn refresh(&mut self, ttl: Option<Duration>) -> Result<Duration, Failure> {
        Ok(match (self, ttl) {
            (Held::Lease(lease), None) => lease.refresh().await?,
            (Held::Lease(lease), Some(ttl)) => lease.refresh_for(ttl).await?,
            (Held::Permit(permit), None) => permit.refresh().await?,
            (Held::Permit(permit), Some(ttl)) => permit.refresh_for(ttl).await?,
        })
    }

    pub(crate) async fn release(mut self) -> Result<bool, Failure> {
        Ok(match &mut self {
            Held::Lease(lease) => lease.release().await?,
            Held::Permit(permit) => permit.release().await?,
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Invalid(bad) => invalid(bad.clone()),
            ErrorKind::NotAcquired => Failure::NotAcquired,
            ErrorKind::WouldDeadlock => Failure::WouldDeadlock,
            ErrorKind::Lost(loss) => Failure::Lost(*loss),
            ErrorKind::Denied => Failure::Denied,
            ErrorKind::OverQuota(quota) => Failure::OverQuota(*quota),
            ErrorKind::Unavailable(_) => Failure::Unavailable,
            _ => Failure::Internal,
        }
    }
}

/// As a guest reads it: without the word that its variant says already.
fn invalid(bad: leases::Invalid) -> Failure {
    let text = bad.to_string();
    Failure::Invalid(text.trim_start_matches("invalid ").to_owned())
}
