//! Carrying a hold to another process.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;

use super::held::Held;
use super::leases::{Leases, Shared};
use super::request::Hold;
use super::vitals::{Deadline, Vitals};
use crate::backend::{Extend, Refresh, Refreshed};
use crate::error::{Error, ErrorKind, Operation};
use crate::fence::{Fence, check_slot};
use crate::holder::HolderId;
use crate::invalid::{Argument, Invalid};
use crate::name::{Key, Kind, Name};
use crate::terms::{Owner, Ttl};

/// What stands first, so that a later form can be told apart.
const FORM: &str = "hold1";

/// All of a hold but its end, which the backend knows.
#[derive(Debug)]
pub(super) struct HandOver {
    pub(super) key: Key,
    pub(super) holder: HolderId,
    pub(super) owner: Option<Owner>,
    pub(super) slot: u32,
    pub(super) fence: Fence,
    pub(super) ttl: Ttl,
}

impl HandOver {
    /// One line of letters, digits, `-`, `_` and `.`.
    pub(super) fn to_text(&self) -> String {
        let kind = match self.key.kind {
            Kind::Lease => "l",
            Kind::Semaphore => "s",
        };
        let HandOver { slot, fence, .. } = self;
        let ttl_us = self.ttl.as_duration().as_micros();
        let holder = BASE64URL_NOPAD.encode(self.holder.as_bytes());
        let name = BASE64URL_NOPAD.encode(self.key.name.as_str().as_bytes());
        let owner = self.owner.as_ref().map(Owner::as_str).unwrap_or_default();
        let owner = BASE64URL_NOPAD.encode(owner.as_bytes());
        format!("{FORM}.{kind}.{slot}.{fence}.{ttl_us}.{holder}.{name}.{owner}")
    }

    fn parse(text: &str, shared: &Shared) -> Option<Self> {
        let mut parts = text.split('.');
        let mut next = || parts.next();
        if next()? != FORM {
            return None;
        }
        let kind = match next()? {
            "l" => Kind::Lease,
            "s" => Kind::Semaphore,
            _ => return None,
        };
        let slot = check_slot(next()?.parse().ok()?).ok()?;
        let fence = Fence::new(next()?.parse().ok()?).ok()?;
        let ttl = Duration::from_micros(next()?.parse().ok()?);
        let ttl = Ttl::new(ttl, shared.ttl_bounds).ok()?;
        let holder = BASE64URL_NOPAD.decode(next()?.as_bytes()).ok()?;
        let holder = HolderId::from_bytes(holder.try_into().ok()?);
        let name = Name::new(text_of(next()?)?).ok()?;
        let owner = text_of(next()?)?;
        let owner = if owner.is_empty() { None } else { Some(Owner::restored(&owner).ok()?) };
        let is_over = parts.next().is_none();
        is_over.then_some(HandOver { key: Key { kind, name }, holder, owner, slot, fence, ttl })
    }
}

fn text_of(part: &str) -> Option<String> {
    String::from_utf8(BASE64URL_NOPAD.decode(part.as_bytes()).ok()?).ok()
}

impl Leases {
    /// Takes up a hold that was detached, in this process or another one on the same backend:
    /// proves that it is still held, and extends it by its own ttl.
    ///
    /// The text is as good as the hold itself: whoever has it can use it. Use it once; of two
    /// handles on one hold each can end the other's.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// use leases::{Lease, Leases};
    ///
    /// let leases = Leases::memory();
    /// let scheduled = leases.lease("import:42")?.acquire().await?;
    /// let fence = scheduled.fence();
    /// let text = scheduled.detach().await?;
    /// let working: Lease = leases.attach(&text).await?; // in a worker
    /// assert_eq!(working.fence(), fence);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Lost`](ErrorKind::Lost) when it is no longer held; [`Invalid`](ErrorKind::Invalid) for a
    /// text that is none, or of the other kind; [`Unavailable`](ErrorKind::Unavailable), after which
    /// it may be tried again.
    ///
    /// # Cancellation
    /// The hold stays what it is, detached.
    pub async fn attach<H: Hold>(&self, detached: &str) -> Result<H, Error> {
        let shared = self.shared();
        let bad = || {
            let invalid = Invalid::new(Argument::HandOver, "a text that detach answered");
            Error::invalid(invalid, Operation::Attach)
        };
        let hand_over = HandOver::parse(detached, shared).ok_or_else(bad)?;
        if hand_over.key.kind != H::KIND {
            return Err(bad());
        }
        if shared.live.is_closed() {
            return Err(Error::closed(Operation::Attach, &hand_over.key));
        }
        let HandOver { key, holder, ttl, .. } = &hand_over;
        let error = |kind| Error::new(kind, Operation::Attach, Some(key));
        let batch = [Refresh { key: key.clone(), holder: *holder, extend: Extend::Hold(*ttl) }];
        let sent = shared.clock.now();
        let answer = shared.backend.refresh(&batch).await;
        let answer = answer.map_err(|e| Error::backend(e, Operation::Attach, Some(key)))?;
        match answer.into_iter().next() {
            Some(Refreshed::Held { ends_in, end }) => {
                let deadline = Deadline::new(sent, *ttl, ends_in, end);
                let vitals = Vitals::new(shared, hand_over, sent, deadline);
                Ok(H::from_held(Held::attached(shared, vitals, None)))
            }
            Some(Refreshed::Lost(loss)) => Err(error(ErrorKind::Lost(loss))),
            _ => Err(error(ErrorKind::Internal)),
        }
    }
}
