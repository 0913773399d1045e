//! The handle of a program on a backend.

use std::fmt;
use std::sync::Arc;

use super::claims::Claims;
use super::give_back::GiveBack;
use super::guard::Guard;
use super::keeper::Keeper;
use super::lease::Lease;
use super::live::{Entry, Live};
use super::permit::Permit;
use super::request::Request;
use crate::backend::{Backend, Properties};
use crate::clock::Clock;
use crate::error::{Error, Loss, Operation};
use crate::holder::HolderId;
use crate::measures::{Measured, Measures};
use crate::memory::{MemoryBackend, MemoryConfig};
use crate::name::{Key, Kind, Name};
use crate::origin::Origin;
use crate::policy::Usages;
use crate::spec::KeyView;
use crate::terms::{Limit, TtlBounds};
use crate::wake::Hearing;

/// Leases, semaphores and fences over one backend. Cheap to clone; clones are the same handle.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
/// use std::time::Duration;
/// use leases::Leases;
///
/// let leases = Leases::memory();
/// let mut import = leases.lease("import:42")?.ttl(Duration::from_secs(60)).acquire().await?;
/// assert!(leases.lease("import:42")?.try_acquire().await?.is_none());
/// import.refresh().await?;
/// assert!(import.release().await?);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Leases {
    shared: Arc<Shared>,
}

/// Settings of a [`Leases`] in the making.
#[derive(Debug)]
#[must_use = "build() makes the handle"]
pub struct LeasesBuilder {
    backend: Arc<dyn Backend>,
    clock: Clock,
    ttl_bounds: TtlBounds,
    origin: Option<Origin>,
}

/// What everything that comes from one [`Leases`] shares.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) properties: Properties,
    pub(crate) clock: Clock,
    pub(crate) ttl_bounds: TtlBounds,
    pub(crate) origin: Option<Origin>,
    pub(crate) give_back: GiveBack,
    pub(crate) keeper: Keeper,
    pub(crate) claims: Claims,
    pub(crate) live: Arc<Live>,
    pub(crate) usages: Usages,
    pub(crate) measures: Measures,
    /// Tells `live` of what is revoked.
    _hearing: Hearing,
}

/// What is shown of a lease, or of a scope, is its own: not what everybody else has.
impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// Ends what the backend may have of an ask or a hold, whoever has its handle.
    pub(super) fn end(&self, holder: HolderId, entry: &Entry, loss: Loss) {
        if let Entry::Hold(vitals, _) = entry {
            // What a handle has told by then stays what it tells.
            vitals.end(vitals.loss().unwrap_or(loss));
        }
        // What is being given back is under way already.
        let is_leaving = matches!(entry, Entry::Leaving(..));
        if !is_leaving && !self.keeper.stops_later(holder) {
            self.give_back.give_back(entry.key(), holder);
        }
    }
}

impl Leases {
    /// Over the memory of this process: nothing of it is seen by another process, and nothing is
    /// left when it ends.
    pub fn memory() -> Self {
        Leases::builder(Arc::new(MemoryBackend::new(MemoryConfig::default()))).build()
    }

    /// Over a backend of the caller's.
    pub fn builder(backend: Arc<dyn Backend>) -> LeasesBuilder {
        let (ttl_bounds, origin) = Default::default();
        LeasesBuilder { backend, clock: Clock::system(), ttl_bounds, origin }
    }

    /// Asks for the lease of a name: one holder at a time.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) for a name out of bounds.
    pub fn lease(&self, name: impl AsRef<str>) -> Result<Request<Lease>, Error> {
        let name = Name::new(name).map_err(|bad| Error::invalid(bad, Operation::Lease))?;
        Ok(self.lease_of(name))
    }

    /// Asks for one of `limit` places of a name.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// let leases = leases::Leases::memory();
    /// let uploads = leases.semaphore("uploads", 3)?;
    /// let permit = uploads.key("user-42")?.acquire().await?; // each key has its own places
    /// assert_eq!(permit.name(), "uploads:user-42");
    /// assert_eq!(permit.slot(), 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) for a name or a limit out of bounds.
    pub fn semaphore(&self, name: impl AsRef<str>, limit: u32) -> Result<Request<Permit>, Error> {
        let name = Name::new(name).map_err(|bad| Error::invalid(bad, Operation::Semaphore))?;
        self.semaphore_of(name, limit)
    }

    /// The guard of a target, whatever is written to.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) for a name out of bounds.
    pub fn guard(&self, target: impl AsRef<str>) -> Result<Guard, Error> {
        let name = Name::new(target).map_err(|bad| Error::invalid(bad, Operation::Guard))?;
        Ok(self.guard_of(name))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn lease_of(&self, name: Name) -> Request<Lease> {
        Request::new(Arc::clone(&self.shared), Key { kind: Kind::Lease, name }, Limit::ONE)
    }

    pub(crate) fn semaphore_of(&self, name: Name, limit: u32) -> Result<Request<Permit>, Error> {
        let limit = Limit::new(limit).map_err(|bad| Error::invalid(bad, Operation::Semaphore))?;
        Ok(Request::new(Arc::clone(&self.shared), Key { kind: Kind::Semaphore, name }, limit))
    }

    pub(crate) fn guard_of(&self, target: Name) -> Guard {
        Guard::new(Arc::clone(&self.shared), target)
    }

    /// Brings what the backend stores to this version's layout, and says how many steps that took:
    /// for an SQL database its migrations, elsewhere none. Safe when several programs do it at once.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not confirm, or has a
    /// layout of a later version.
    ///
    /// # Cancellation
    /// It may have been done or not; doing it again is safe.
    pub async fn migrate(&self) -> Result<u32, Error> {
        let migrated = self.shared.backend.migrate().await;
        migrated.map_err(|error| Error::backend(error, Operation::Migrate, None))
    }

    /// Who holds a key and who waits for it.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not answer.
    ///
    /// # Cancellation
    /// Nothing happens.
    pub async fn inspect(&self, key: &Key) -> Result<KeyView, Error> {
        let view = self.shared.backend.inspect(key).await;
        view.map_err(|error| Error::backend(error, Operation::Inspect, Some(key)))
    }

    /// Ends the hold in one slot of a key, or all of its holds, and says how many. Their holders
    /// learn *revoked* at once where the backend tells them (memory, Redis, PostgreSQL with a
    /// listener; and whatever this handle's own backend holds), else when they next refresh.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not confirm.
    ///
    /// # Cancellation
    /// The holds may have been ended or not; asking again is safe.
    pub async fn revoke(&self, key: &Key, slot: Option<u32>) -> Result<u32, Error> {
        let revoked = self.shared.backend.revoke(key, slot).await;
        revoked.map_err(|error| Error::backend(error, Operation::Revoke, Some(key)))
    }
}

impl LeasesBuilder {
    /// The clock of the holders' own deadlines and of the waiters' sleep.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The least and greatest ttl.
    pub fn ttl_bounds(mut self, bounds: TtlBounds) -> Self {
        self.ttl_bounds = bounds;
        self
    }

    /// Adds to the notes of all that is asked for by which process it is: for operators, who see it in
    /// [`list`](Leases::list) and [`inspect`](Leases::inspect). A few dozen bytes in the backend for
    /// each hold and each waiter.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// use leases::{Leases, NamePattern, Origin};
    ///
    /// let builder = Leases::builder_at("memory:").await?;
    /// let leases = builder.origin(Origin::here()).build();
    /// let import = leases.lease("import:42")?.note("nightly").acquire().await?;
    /// let listed = leases.list(&NamePattern::new("import:42").unwrap()).await?;
    /// let note = listed[0].view.holders[0].note.as_ref().unwrap();
    /// assert_eq!(note.parts(), ("nightly", Some(Origin::here())));
    /// # drop(import); Ok(()) }
    /// ```
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// The handle.
    ///
    /// With the feature `metrics` it is measured by the recorder that is installed by then.
    pub fn build(self) -> Leases {
        let LeasesBuilder { backend, clock, ttl_bounds, origin } = self;
        let (properties, measures) = (backend.properties(), Measures::new());
        let backend: Arc<dyn Backend> = match properties.at_once {
            true => backend,
            false => Arc::new(Measured::new(backend, clock.clone(), measures.clone())),
        };
        let live = Arc::new(Live::default());
        let give_back = GiveBack::new(&backend, properties, &live, &measures);
        let told = Arc::clone(&live);
        let hearing = backend.on_revoked(Arc::new(move |holders: &[_]| told.revoked(holders)));
        let (keeper, claims, usages) = Default::default();
        Leases {
            shared: Arc::new(Shared {
                backend,
                properties,
                clock,
                ttl_bounds,
                origin,
                give_back,
                keeper,
                claims,
                live,
                usages,
                measures,
                _hearing: hearing,
            }),
        }
    }
}
