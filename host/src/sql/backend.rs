//! The operations, over whichever database.

use std::sync::Arc;
use std::time::Duration;

use super::carry::{Carrier, Repeat, Role, Work};
use super::config::SqlConfig;
use super::error::Failure;
use super::forget::Forgetting;
use super::listing::Range;
use super::migrations;
use super::poll::Ear;
use super::store::Holding;
use super::turns::{Turn, Turns};
use crate::backend::{Backend, Properties, Refresh, Refreshed, Reply};
use crate::error::{BackendError, Error, Loss, Operation};
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::listing::{Cursor, Page};
use crate::name::Key;
use crate::pattern::NamePattern;
use crate::spec::{Answer, Ask, Change, KeyView, Mode};
use crate::wake::{Changes, Hearing, Tell, Wakes, Watch};

/// A waiter's process can die without leaving: five seconds, and two lost signs of life, later it
/// is out of the line.
const PATIENCE: Duration = Duration::from_secs(5);

/// Others may be at it, one after the other.
const MIGRATES_WITHIN: Duration = Duration::from_secs(60);

/// Grants, lines and guards in an SQL database: PostgreSQL, SQLite, MySQL or MariaDB.
///
/// The tables have to be there: [`Leases::migrate`](crate::Leases::migrate) makes them. Every
/// operation is one short transaction of its own, and the database's clock alone decides on ends.
/// Names that nobody used for the retention time are forgotten, a few at a time.
#[derive(Debug, Clone)]
pub struct SqlBackend(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    carrier: Carrier,
    /// Of what may take longer than an operation: migrations.
    patient: Carrier,
    wakes: Wakes,
    turns: Turns,
    ear: Ear,
    forgetting: Forgetting,
}

impl SqlBackend {
    /// Connects.
    ///
    /// # Errors
    /// - [`Invalid`](crate::ErrorKind::Invalid) for settings out of their bounds.
    /// - [`Unavailable`](crate::ErrorKind::Unavailable) when the database did not answer within the
    ///   request timeout, or has tables of a later version.
    ///
    /// # Cancellation
    /// Nothing happened.
    pub async fn connect(config: SqlConfig) -> Result<Self, Error> {
        config.check()?;
        let wakes = Wakes::default();
        let timeout = config.request_timeout;
        let (store, ear) = config.open(&wakes).map_err(unavailable)?;
        let carrier = Carrier::new(Arc::clone(&store), wakes.clone(), timeout);
        let work: Work<(), _> = |store, (), attempt| store.version(attempt);
        let version = carrier.carry((Role::Any, Repeat::Freely), (), work, as_it_is).await;
        migrations::check(version.map_err(unavailable)?).map_err(unavailable)?;
        ear.open(timeout).await.map_err(unavailable)?;
        let patient = Carrier::new(Arc::clone(&store), wakes.clone(), timeout.max(MIGRATES_WITHIN));
        let turns = Turns::default();
        let forgetting = Forgetting::new(store, config.retention, timeout);
        Ok(SqlBackend(Arc::new(Inner { carrier, patient, wakes, turns, ear, forgetting })))
    }
}

fn unavailable(failure: Failure) -> Error {
    Error::backend(failure.into(), Operation::Connect, None)
}

/// What is answered of something that changes nothing.
fn as_it_is<T>(_: &Wakes, answer: T) -> T {
    answer
}

/// What is answered of a change, once those it concerns were woken.
fn woken<T>(wakes: &Wakes, Change { answer, wake }: Change<T>) -> T {
    wakes.wake(&wake);
    answer
}

/// Whose holds were revoked, once those of this process were told.
fn told(wakes: &Wakes, revoked: Change<Vec<HolderId>>) -> Vec<HolderId> {
    let revoked = woken(wakes, revoked);
    wakes.revoked(&revoked);
    revoked
}

impl Inner {
    async fn change<Input, T>(
        &self,
        how: (Role, Repeat),
        input: Input,
        work: Work<Input, Change<T>>,
    ) -> Result<T, BackendError>
    where
        Input: Send + Sync + 'static,
        T: Send + 'static,
    {
        Ok(self.carrier.carry(how, input, work, woken).await?)
    }

    async fn read<Input, T>(&self, input: Input, work: Work<Input, T>) -> Result<T, BackendError>
    where
        Input: Send + Sync + 'static,
        T: Send + 'static,
    {
        Ok(self.carrier.carry((Role::Any, Repeat::Freely), input, work, as_it_is).await?)
    }

    async fn ask(&self, ask: &Ask) -> Result<Answer, BackendError> {
        self.forgetting.start();
        let how = (Role::Asks(ask.holder), Repeat::Freely);
        match ask.mode {
            Mode::Once => {
                self.change(how, ask.clone(), |store, ask, attempt| store.ask(ask, attempt)).await
            }
            Mode::Wait { .. } => {
                let input = (ask.clone(), self.turns.of(&ask.key));
                let work: Work<(Ask, Arc<Turn>), _> = |store, (ask, turn), attempt| {
                    Box::pin(async move {
                        let _turn = turn.lock().await;
                        store.ask(ask, attempt).await
                    })
                };
                self.change(how, input, work).await
            }
        }
    }

    async fn refresh(&self, batch: &[Refresh]) -> Result<Vec<Refreshed>, BackendError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let how = (Role::Any, Repeat::Freely);
        self.change(how, batch.to_vec(), |store, batch, attempt| store.refresh(batch, attempt))
            .await
    }

    async fn release(&self, key: &Key, holder: HolderId) -> Result<Result<(), Loss>, BackendError> {
        let of = Holding { key: key.clone(), holder };
        let how = (Role::Ends(holder), Repeat::Never);
        self.change(how, of, |store, of, attempt| store.release(of, attempt)).await
    }

    async fn leave(&self, key: &Key, holder: HolderId) -> Result<(), BackendError> {
        let of = Holding { key: key.clone(), holder };
        let how = (Role::Ends(holder), Repeat::Freely);
        self.change(how, of, |store, of, attempt| store.leave(of, attempt)).await
    }

    async fn revoke(&self, key: &Key, slot: Option<u32>) -> Result<u32, BackendError> {
        let how = (Role::Any, Repeat::Never);
        let work: Work<(Key, Option<u32>), _> =
            |store, (key, slot), attempt| store.revoke(key, *slot, attempt);
        let revoked = self.carrier.carry(how, (key.clone(), slot), work, told).await?;
        Ok(u32::try_from(revoked.len()).unwrap_or(u32::MAX))
    }

    async fn inspect(&self, key: &Key) -> Result<KeyView, BackendError> {
        self.read(key.clone(), |store, key, attempt| store.inspect(key, attempt)).await
    }

    async fn list(
        &self,
        names: &NamePattern,
        after: Option<&Cursor>,
    ) -> Result<Page, BackendError> {
        let range = Range::of(names, after)?;
        let looked = self.read(range.clone(), |store, range, attempt| store.list(range, attempt));
        Ok(range.page(names, looked.await?)?)
    }

    async fn admit(&self, target: &Target, fence: Fence) -> Result<Verdict, BackendError> {
        self.read((target.clone(), fence), |store, (target, fence), attempt| {
            store.admit(target, *fence, attempt)
        })
        .await
    }

    async fn current(&self, target: &Target) -> Result<Option<Fence>, BackendError> {
        self.read(target.clone(), |store, target, attempt| store.current(target, attempt)).await
    }

    async fn migrate(&self) -> Result<u32, BackendError> {
        let work: Work<(), _> = |store, (), attempt| {
            Box::pin(async move {
                // A user who may make nothing may find that nothing is missing.
                match store.version(attempt).await? {
                    Some(migrations::LATEST) => Ok(0),
                    _ => store.migrate(attempt).await,
                }
            })
        };
        Ok(self.patient.carry((Role::Any, Repeat::Freely), (), work, as_it_is).await?)
    }
}

impl Backend for SqlBackend {
    fn properties(&self) -> Properties {
        Properties { patience: PATIENCE, at_once: false }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        Reply::new(self.0.ask(ask))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        Reply::new(self.0.refresh(batch))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        Reply::new(self.0.release(key, holder))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        Reply::new(self.0.leave(key, holder))
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        Reply::new(self.0.revoke(key, slot))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        Reply::new(self.0.inspect(key))
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        Reply::new(self.0.list(names, after))
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        Reply::new(self.0.admit(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        Reply::new(self.0.current(target))
    }

    fn watch(&self, _key: &Key, holder: HolderId) -> Watch {
        let watch = self.0.wakes.watch(holder);
        self.0.ear.start();
        watch
    }

    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.0.wakes.on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        Changes::default()
    }

    fn migrate(&self) -> Reply<'_, u32> {
        Reply::new(self.0.migrate())
    }
}
