//! Who acts in a case: the same words, whichever the door.

use std::time::Duration;

use leases::{Loss, Quota};

use crate::ask::Ask;
use crate::{native, wasm};

/// A program that asks for holds.
#[derive(Clone)]
pub enum Actor {
    /// Through the Rust API.
    Native(native::Program),
    /// Through a guest.
    Wasm(wasm::Guest),
}

/// What an actor holds. `forget` drops the handle; through a guest a dropped `Held` alone does not.
pub enum Held {
    /// Through the Rust API.
    Native(native::Held),
    /// Through a guest.
    Wasm(wasm::Held),
}

/// Why a call did not do what was asked: what both doors tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the contract")]
pub enum Failure {
    Denied,
    Invalid(String),
    NotAcquired,
    WouldDeadlock,
    Lost(Loss),
    OverQuota(Quota),
    Unavailable,
    Internal,
}

/// What a guard says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the contract")]
pub enum Verdict {
    Admitted,
    Stale(u64),
}

/// What a handle tells without I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the contract")]
pub struct Seen {
    pub name: String,
    pub owner: Option<String>,
    pub slot: Option<u32>,
    pub fence: u64,
    pub remaining: Duration,
    pub lost: Option<Loss>,
}

impl Actor {
    /// Takes a hold.
    pub async fn acquire(&self, ask: Ask) -> Result<Held, Failure> {
        match self {
            Actor::Native(program) => program.acquire(ask).await.map(Held::Native),
            Actor::Wasm(guest) => guest.acquire(ask).await.map(Held::Wasm),
        }
    }

    /// Takes a hold that must be free.
    pub async fn take(&self, ask: Ask) -> Held {
        let name = ask.name.clone();
        match self.acquire(ask).await {
            Ok(held) => held,
            Err(failure) => panic!("{name} must be free: {failure:?}"),
        }
    }

    /// Asks for what must not be given; answers why not.
    pub async fn refused(&self, ask: Ask) -> Failure {
        match self.acquire(ask).await {
            Ok(held) => panic!("this must be refused: {:?}", held.look().await),
            Err(failure) => failure,
        }
    }

    /// Asks a guard.
    pub async fn admit(
        &self,
        target: &str,
        slot: Option<u32>,
        fence: u64,
    ) -> Result<Verdict, Failure> {
        match self {
            Actor::Native(program) => program.admit(target, slot, fence).await,
            Actor::Wasm(guest) => guest.admit(target, slot, fence).await,
        }
    }

    /// Asks what a guard admitted last.
    pub async fn current(&self, target: &str, slot: Option<u32>) -> Result<Option<u64>, Failure> {
        match self {
            Actor::Native(program) => program.current(target, slot).await,
            Actor::Wasm(guest) => guest.current(target, slot).await,
        }
    }
}

impl Held {
    /// What the handle tells.
    pub async fn look(&self) -> Seen {
        match self {
            Held::Native(held) => held.look(),
            Held::Wasm(held) => held.look().await,
        }
    }

    /// The grant's fence.
    pub async fn fence(&self) -> u64 {
        self.look().await.fence
    }

    /// A permit's slot.
    pub async fn slot(&self) -> u32 {
        self.look().await.slot.expect("a permit has a slot")
    }

    /// Extends by its own ttl.
    pub async fn refresh(&mut self) -> Result<Duration, Failure> {
        self.refresh_for(None).await
    }

    /// Extends by a ttl.
    pub async fn refresh_for(&mut self, ttl: Option<Duration>) -> Result<Duration, Failure> {
        match self {
            Held::Native(held) => held.refresh(ttl).await,
            Held::Wasm(held) => held.refresh(ttl).await,
        }
    }

    /// Gives back.
    pub async fn release(self) -> Result<bool, Failure> {
        match self {
            Held::Native(held) => held.release().await,
            Held::Wasm(held) => held.release().await,
        }
    }

    /// Drops the handle.
    pub async fn forget(self) {
        match self {
            Held::Native(held) => drop(held),
            Held::Wasm(held) => held.forget().await,
        }
    }
}
