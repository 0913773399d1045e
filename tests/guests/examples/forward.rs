//! The forwarding guest: what a test in the host asks of it, it asks of the guest bindings, so that
//! a case of the conformance suite passes through bindings, contract, scope and engine.

// Its exports' names are none that a native linker takes.
#![cfg(target_family = "wasm")]
#![allow(missing_docs)]

use std::cell::RefCell;
use std::time::Duration;

use leases_guest::{Error, Fence, Lease, Loss, Permit, Quota, Request, SlotFence, Verdict};

mod bindings {
    #![allow(unsafe_code, unreachable_pub, unused_qualifications, clippy::all)]

    wit_bindgen::generate!({ path: "../wit", world: "forward" });

    export!(Forward with_types_in self);

    use super::Forward;
}

use bindings::exports::leases::tests::operations as wit;

struct Forward;

enum Held {
    Lease(Lease),
    Permit(Permit),
}

thread_local! {
    static HELD: RefCell<Vec<Option<Held>>> = const { RefCell::new(Vec::new()) };
}

impl wit::Guest for Forward {
    fn acquire(ask: wit::Ask) -> Result<u32, wit::Failure> {
        let held = match ask.kind {
            wit::Kind::Lease => {
                Held::Lease(with_terms(leases_guest::lease(&*ask.name), &ask).acquire()?)
            }
            wit::Kind::Semaphore => {
                let semaphore = leases_guest::semaphore(&*ask.name, ask.limit);
                Held::Permit(with_terms(semaphore, &ask).acquire()?)
            }
        };
        Ok(HELD.with_borrow_mut(|all| {
            all.push(Some(held));
            all.len() as u32 - 1
        }))
    }

    fn look(number: u32) -> wit::Seen {
        with(number, |held| match held {
            Held::Lease(lease) => wit::Seen {
                name: lease.name(),
                owner: lease.owner(),
                slot: None,
                fence: lease.fence().as_u64(),
                remaining: lease.remaining().as_nanos() as u64,
                lost: lease.lost().map(Into::into),
            },
            Held::Permit(permit) => wit::Seen {
                name: permit.name(),
                owner: permit.owner(),
                slot: Some(permit.slot()),
                fence: permit.fence().fence.as_u64(),
                remaining: permit.remaining().as_nanos() as u64,
                lost: permit.lost().map(Into::into),
            },
        })
    }

    fn refresh(number: u32, ttl: Option<u64>) -> Result<u64, wit::Failure> {
        let ttl = ttl.map(Duration::from_nanos);
        let remaining = with(number, |held| match (held, ttl) {
            (Held::Lease(lease), None) => lease.refresh(),
            (Held::Lease(lease), Some(ttl)) => lease.refresh_for(ttl),
            (Held::Permit(permit), None) => permit.refresh(),
            (Held::Permit(permit), Some(ttl)) => permit.refresh_for(ttl),
        });
        Ok(remaining?.as_nanos() as u64)
    }

    fn release(number: u32) -> Result<bool, wit::Failure> {
        Ok(match take(number) {
            Held::Lease(lease) => lease.release()?,
            Held::Permit(permit) => permit.release()?,
        })
    }

    fn forget(number: u32) {
        drop(take(number));
    }

    fn trap() {
        std::process::abort()
    }

    fn admit(target: String, slot: Option<u32>, fence: u64) -> Result<wit::Verdict, wit::Failure> {
        let (guard, fence) = (leases_guest::guard(target), Fence::from_u64(fence));
        let verdict = match slot {
            None => guard.admit(fence),
            Some(slot) => guard.admit(SlotFence { slot, fence }),
        };
        Ok(match verdict? {
            Verdict::Admitted => wit::Verdict::Admitted,
            Verdict::Stale(greater) => wit::Verdict::Stale(greater.as_u64()),
        })
    }

    fn current(target: String, slot: Option<u32>) -> Result<Option<u64>, wit::Failure> {
        let guard = leases_guest::guard(target);
        let current = match slot {
            None => guard.current(),
            Some(slot) => guard.current_slot(slot),
        };
        Ok(current?.map(Fence::as_u64))
    }
}

fn with_terms<H: leases_guest::Hold>(request: Request<H>, ask: &wit::Ask) -> Request<H> {
    let mut request = request.ttl(Duration::from_nanos(ask.ttl));
    if ask.keep_alive {
        request = request.keep_alive();
    }
    if let Some(max_hold) = ask.max_hold {
        request = request.max_hold(Duration::from_nanos(max_hold));
    }
    if let Some(owner) = &ask.owner {
        request = request.owner(&**owner);
    }
    if let Some(note) = &ask.note {
        request = request.note(&**note);
    }
    match ask.wait {
        Some(wait) => request.wait(Duration::from_nanos(wait)),
        None => request.wait_as_allowed(),
    }
}

fn with<T>(number: u32, work: impl FnOnce(&mut Held) -> T) -> T {
    HELD.with_borrow_mut(|all| {
        let held = all.get_mut(number as usize).and_then(Option::as_mut);
        work(held.expect("a number that acquire answered and nobody took"))
    })
}

fn take(number: u32) -> Held {
    HELD.with_borrow_mut(|all| {
        let held = all.get_mut(number as usize).and_then(Option::take);
        held.expect("a number that acquire answered and nobody took")
    })
}

impl From<Loss> for wit::Loss {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Released => wit::Loss::Released,
            Loss::Expired => wit::Loss::Expired,
            Loss::Superseded => wit::Loss::Superseded,
            Loss::Revoked => wit::Loss::Revoked,
            Loss::MaxHold => wit::Loss::MaxHold,
            Loss::Unconfirmed => wit::Loss::Unconfirmed,
            other => unreachable!("a loss that the contract does not have: {other:?}"),
        }
    }
}

impl From<Quota> for wit::Quota {
    fn from(quota: Quota) -> Self {
        match quota {
            Quota::Held => wit::Quota::Held,
            Quota::Waiting => wit::Quota::Waiting,
            Quota::Line => wit::Quota::Line,
            Quota::Rate => wit::Quota::Rate,
            other => unreachable!("a quota that the contract does not have: {other:?}"),
        }
    }
}

impl From<Error> for wit::Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied => wit::Failure::Denied,
            Error::Invalid(what) => wit::Failure::Invalid(what),
            Error::NotAcquired => wit::Failure::NotAcquired,
            Error::WouldDeadlock => wit::Failure::WouldDeadlock,
            Error::Lost(loss) => wit::Failure::Lost(loss.into()),
            Error::OverQuota(quota) => wit::Failure::OverQuota(quota.into()),
            Error::Unavailable => wit::Failure::Unavailable,
            Error::Internal(what) => wit::Failure::Internal(what),
            other => unreachable!("an error that the contract does not have: {other:?}"),
        }
    }
}
