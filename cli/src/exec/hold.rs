//! What a command holds while it runs.

use std::time::{Duration, Instant};

use leases::{Error, ErrorKind, Hold, Key, Kind, Lease, Leases, Loss, Permit, Quota, Request};
use tokio::time::timeout;

use super::args::ExecArgs;
use crate::backend;
use crate::failure::{self, Failure, NOT_ACQUIRED};

/// How long it may take to give back what was held, or waited for. Beyond, its ttl ends it.
const GIVE_BACK_MAX: Duration = Duration::from_secs(5);

/// A lease, or one of a semaphore's permits.
#[derive(Debug)]
pub(super) enum Held {
    Lease(Lease),
    Permit(Permit),
}

impl Held {
    /// Waits for what was asked for.
    ///
    /// # Cancellation
    /// Nothing is held once [`close`] has returned.
    pub(super) async fn take(leases: &Leases, args: &ExecArgs) -> Result<Self, Failure> {
        let taken = match args.limit {
            None => match leases.lease(args.name.as_str()) {
                Ok(lease) => on_terms(lease, args).acquire().await.map(Held::Lease),
                Err(error) => Err(error),
            },
            Some(limit) => match leases.semaphore(args.name.as_str(), limit.get()) {
                Ok(permit) => on_terms(permit, args).acquire().await.map(Held::Permit),
                Err(error) => Err(error),
            },
        };
        taken.map_err(|error| not_taken(&key(args), &error))
    }

    pub(super) fn fence(&self) -> u64 {
        match self {
            Held::Lease(lease) => lease.fence().as_u64(),
            Held::Permit(permit) => permit.fence().fence.as_u64(),
        }
    }

    pub(super) fn slot(&self) -> u32 {
        match self {
            Held::Lease(_) => 0,
            Held::Permit(permit) => permit.slot(),
        }
    }

    /// Resolves when it is lost.
    pub(super) async fn lost(&self) -> Loss {
        match self {
            Held::Lease(lease) => lease.lost().await,
            Held::Permit(permit) => permit.lost().await,
        }
    }

    fn loss(&self) -> Option<Loss> {
        match self {
            Held::Lease(lease) => lease.loss(),
            Held::Permit(permit) => permit.loss(),
        }
    }

    async fn release(&mut self) -> Result<bool, Error> {
        match self {
            Held::Lease(lease) => lease.release().await,
            Held::Permit(permit) => permit.release().await,
        }
    }

    /// Gives it back; answers why it was lost before that, if it was.
    pub(super) async fn give_back(mut self, leases: &Leases) -> Option<Loss> {
        let began = Instant::now();
        let seen = self.loss();
        let found = match timeout(GIVE_BACK_MAX, self.release()).await {
            Ok(Ok(false)) => Some(self.loss().unwrap_or(Loss::Expired)),
            Ok(Ok(true) | Err(_)) | Err(_) => None,
        };
        // What was not confirmed is tried again in the background.
        drop(self);
        close(leases, GIVE_BACK_MAX.saturating_sub(began.elapsed())).await;
        seen.or(found)
    }
}

/// Gives back whatever is still held or waited for.
pub(super) async fn close(leases: &Leases, within: Duration) {
    if let Err(left) = leases.close(within).await {
        failure::say(left);
    }
}

/// Leaves the line.
pub(super) async fn leave(leases: &Leases) {
    close(leases, GIVE_BACK_MAX).await;
}

pub(super) fn key(args: &ExecArgs) -> Key {
    let kind = if args.limit.is_some() { Kind::Semaphore } else { Kind::Lease };
    Key { kind, name: args.name.clone() }
}

fn on_terms<H: Hold>(request: Request<H>, args: &ExecArgs) -> Request<H> {
    let mut request = request.keep_alive().ttl(args.ttl.as_duration()).wait(args.wait);
    if let Some(max_hold) = args.max_hold {
        request = request.max_hold(max_hold.as_duration());
    }
    if let Some(owner) = &args.owner {
        request = request.owner(owner.as_str());
    }
    if let Some(note) = &args.note {
        request = request.note(note.as_str());
    }
    request
}

fn not_taken(key: &Key, error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::Invalid(invalid) => Failure::usage(invalid),
        kind @ (ErrorKind::NotAcquired | ErrorKind::OverQuota(Quota::Line)) => {
            Failure::of(NOT_ACQUIRED, format_args!("{key}: {kind}"))
        }
        kind => Failure::unavailable(format_args!("{key}: {kind}: {}", backend::causes(error))),
    }
}
