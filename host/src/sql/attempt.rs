//! One try of an operation, and the connection that it borrows.

use std::ops::{Deref, DerefMut};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::{Database, Pool};

use super::error::Failure;

/// A connection that does not answer for this long, on its way back to its pool, is closed.
const RETURNS_WITHIN: Duration = Duration::from_secs(1);

/// A connection that was idle for this long is asked whether it still is one.
#[cfg(any(feature = "postgres", feature = "mysql"))]
const ASKED_AFTER: Duration = Duration::from_millis(500);

/// Within such a part of the request timeout: the way to the server may have forgotten all that were
/// open, and no more than one request is to fail of it.
#[cfg(any(feature = "postgres", feature = "mysql"))]
const ANSWERS_WITHIN: u32 = 8;

/// One try of an operation.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    sent: AtomicBool,
    /// Whether an earlier ask of this holder may yet be carried out.
    pub(super) may_come_late: bool,
}

/// Connections to borrow.
#[derive(Debug, Clone)]
pub(super) struct Connections<DB: Database> {
    pool: Pool<DB>,
    cuts: Cuts,
}

/// When one was last found to be unfit. Whatever befell it may have befallen those that were idle
/// meanwhile.
#[derive(Debug, Clone, Default)]
pub(super) struct Cuts(Arc<Mutex<Option<Instant>>>);

/// A connection on loan. Unless it is [given back](Loan::give_back) it is closed: a transaction may
/// be open on it, or a reply on its way.
#[derive(Debug)]
pub(super) struct Loan<DB: Database> {
    connection: PoolConnection<DB>,
    is_clean: bool,
    cuts: Cuts,
}

impl<DB: Database> Connections<DB> {
    pub(super) fn new(pool: Pool<DB>, cuts: Cuts) -> Self {
        Connections { pool, cuts }
    }
}

impl Cuts {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Asks one that is borrowed whether it still is one, where it may not be.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(super) fn check<'c, C: sqlx::Connection>(
        &self,
        connection: &'c mut C,
        idle_for: Duration,
        request_timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<bool, sqlx::Error>> + Send + 'c>> {
        let is_asked = idle_for > ASKED_AFTER || self.may_concern(idle_for);
        Box::pin(async move {
            if is_asked {
                let answers_within = request_timeout / ANSWERS_WITHIN;
                let asked = tokio::time::timeout(answers_within, connection.ping()).await;
                asked.map_err(|_| sqlx::Error::PoolTimedOut)??;
            }
            Ok(true)
        })
    }

    /// Whether one that was idle for so long was so when another was found to be unfit.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    fn may_concern(&self, idle_for: Duration) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| idle_for >= last.elapsed())
    }
}

impl Attempt {
    /// A try that may have been sent if it does not end.
    pub(super) fn new(may_come_late: bool) -> Self {
        Attempt { may_come_late, ..Attempt::default() }
    }

    /// Whether anything was sent that changes something.
    pub(super) fn was_sent(&self) -> bool {
        self.sent.load(Ordering::Acquire)
    }

    /// Borrows a connection; from then on something may be sent.
    pub(super) async fn borrow<DB: Database>(
        &self,
        of: &Connections<DB>,
    ) -> Result<Loan<DB>, Failure> {
        let loan = self.connect(of).await?;
        self.sends();
        Ok(loan)
    }

    /// Borrows a connection, on which nothing is changed until it is said that it [is](Self::sends).
    pub(super) async fn connect<DB: Database>(
        &self,
        of: &Connections<DB>,
    ) -> Result<Loan<DB>, Failure> {
        let connection = of.pool.acquire().await.map_err(Failure::connecting)?;
        Ok(Loan { connection, is_clean: false, cuts: of.cuts.clone() })
    }

    /// From now on something may be changed.
    pub(super) fn sends(&self) {
        self.sent.store(true, Ordering::Release);
    }
}

impl<DB: Database> Loan<DB> {
    /// Gives it back to the pool: nothing is open and nothing is on its way. The driver asks it
    /// once more, for as long as it takes; one that went silent must not keep its place.
    pub(super) fn give_back(mut self) {
        self.is_clean = true;
        let returned = self.connection.return_to_pool();
        tokio::spawn(tokio::time::timeout(RETURNS_WITHIN, returned));
    }

    /// Gives it back after a statement in autocommit, unless the connection is not fit for another.
    #[cfg(feature = "postgres")]
    pub(super) fn after<T>(self, result: Result<T, sqlx::Error>) -> Result<T, Failure> {
        let result = result.map_err(Failure::from);
        if !matches!(&result, Err(failure) if failure.is_cut()) {
            self.give_back();
        }
        result
    }
}

impl<DB: Database> Deref for Loan<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        &self.connection
    }
}

impl<DB: Database> DerefMut for Loan<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.connection
    }
}

impl<DB: Database> Drop for Loan<DB> {
    fn drop(&mut self) {
        if !self.is_clean {
            self.cuts.note();
            self.connection.close_on_drop();
        }
    }
}
