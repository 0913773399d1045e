//! A connection, for one try of an operation.

use std::fmt::Debug;
use std::pin::Pin;

use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use sqlx::Either;

use super::row::{Answers, Row};
use super::script::{Request, Script, Words};
use super::store::RowsStore;
use crate::sql::attempt::{Attempt, Loan};
use crate::sql::error::Failure;

/// What is done on a connection.
pub(in crate::sql) type Running<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A database whose rules are run here.
pub(in crate::sql) trait Dialect: Debug + Send + Sync + 'static {
    /// Of which driver.
    type Driver: sqlx::Database;

    /// Whether keys are locked one by one: two who lock several may otherwise wait for each other.
    /// If not, a transaction locks out all others.
    const LOCKS_KEYS: bool;

    /// What differs in its statements.
    fn words(&self) -> &Words;

    /// Sends a request; answers the rows of each of its statements.
    fn run<'a>(
        connection: &'a mut <Self::Driver as sqlx::Database>::Connection,
        request: Request,
    ) -> Running<'a, Result<Vec<Vec<Row>>, Stopped>>;

    /// Applies the migrations that are missing; answers how many.
    fn migrate(
        connection: &mut <Self::Driver as sqlx::Database>::Connection,
    ) -> Running<'_, Result<u32, Failure>>;

    /// The number of the last migration that was applied, if one was. Refuses a database that leases
    /// can't be kept in.
    fn version(
        connection: &mut <Self::Driver as sqlx::Database>::Connection,
    ) -> Running<'_, Result<Option<i64>, Failure>>;
}

/// A request that failed at one of its statements.
#[derive(Debug)]
pub(in crate::sql) struct Stopped {
    /// How many statements were carried out before.
    pub(in crate::sql) after: usize,
    pub(in crate::sql) error: sqlx::Error,
}

/// What a driver answers, gathered.
pub(in crate::sql) async fn gathered<Done, R>(
    mut answers: BoxStream<'_, Result<Either<Done, R>, sqlx::Error>>,
    read: fn(&R) -> Result<Row, sqlx::Error>,
) -> Result<Vec<Vec<Row>>, Stopped> {
    let mut all = Vec::new();
    let mut rows = Vec::new();
    loop {
        let next = match answers.try_next().await {
            Ok(Some(Either::Right(row))) => read(&row).map(|row| rows.push(row)),
            Ok(Some(Either::Left(_))) => {
                all.push(std::mem::take(&mut rows));
                Ok(())
            }
            Ok(None) => return Ok(all),
            Err(error) => Err(error),
        };
        next.map_err(|error| Stopped { after: all.len(), error })?;
    }
}

/// A connection on loan, and what is open on it.
#[derive(Debug)]
pub(super) struct Link<'a, D: Dialect> {
    pub(super) store: &'a RowsStore<D>,
    pub(super) attempt: &'a Attempt,
    loan: Loan<D::Driver>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is open.
    Clean,
    /// A transaction may be.
    Open,
    /// It is not fit for anything else.
    Broken,
}

/// What comes of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Nothing: it reads, or what it writes is of a transaction that goes on.
    Not,
    /// Each of its statements is carried out by itself.
    Each,
    /// A transaction, with its last statement.
    Last,
}

impl<'a, D: Dialect> Link<'a, D> {
    pub(super) async fn new(
        store: &'a RowsStore<D>,
        attempt: &'a Attempt,
    ) -> Result<Self, Failure> {
        let loan = attempt.connect(store.connections()).await?;
        Ok(Link { store, attempt, loan, state: State::Clean })
    }

    pub(super) fn script(&self) -> Script {
        self.store.script()
    }

    /// A script of the transaction that is open, or that it opens.
    pub(super) fn in_transaction(&mut self) -> Script {
        let mut script = self.script();
        if self.state == State::Clean {
            script.add_text(self.store.words().begin);
            self.state = State::Open;
        }
        script
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        self.state == State::Open
    }

    /// Reads, or does what counts only when the transaction has ended.
    pub(super) async fn run(&mut self, script: Script) -> Result<Answers, Failure> {
        self.send(script, Ends::Not).await
    }

    /// Carries out statements outside of a transaction, each by itself.
    pub(super) async fn apply(&mut self, script: Script) -> Result<Answers, Failure> {
        self.send(script, Ends::Each).await
    }

    /// Does the rest of a transaction, and ends it.
    pub(super) async fn commit(&mut self, mut script: Script) -> Result<Answers, Failure> {
        script.add_text("COMMIT");
        self.send(script, Ends::Last).await
    }

    async fn send(&mut self, script: Script, ends: Ends) -> Result<Answers, Failure> {
        let last = script.count().saturating_sub(1);
        if ends != Ends::Not {
            self.attempt.sends();
        }
        let mut answers = Answers::default();
        let mut before = 0;
        for request in script.into_requests() {
            let count = request.count;
            let answer = D::run(&mut self.loan, request).await;
            let more = answer.map_err(|Stopped { after, error }| {
                let failure = Failure::from(error);
                self.failed(failure, ends, before + after == last)
            })?;
            answers.extend(more);
            before += count;
        }
        if ends == Ends::Last {
            self.state = State::Clean;
        }
        Ok(answers)
    }

    fn failed(&mut self, failure: Failure, ends: Ends, at_last: bool) -> Failure {
        if failure.is_cut() {
            self.state = State::Broken;
        }
        match failure {
            Failure::Cut(error) if ends == Ends::Not => Failure::CutBefore(error),
            Failure::Refused(error) if ends == Ends::Last && at_last => Failure::Ending(error),
            failure => failure,
        }
    }

    /// Ends what is open, and gives the connection back if it is fit for more.
    pub(super) async fn end<T>(mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if self.state == State::Open {
            let mut script = self.script();
            script.add_text("ROLLBACK");
            for request in script.into_requests() {
                let rolled_back = D::run(&mut self.loan, request).await;
                self.state = if rolled_back.is_ok() { State::Clean } else { State::Broken };
            }
        }
        if self.state == State::Clean {
            self.loan.give_back();
        }
        result
    }
}
