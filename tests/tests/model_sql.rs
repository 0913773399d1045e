//! Random lists of operations on SQL databases, which are told the time, beside the model.

use std::ops::Range;
use std::sync::Arc;

use leases::{Backend, ManualClock, SqlBackend, SqlConfig};
use leases_tests::compare::compare;
use leases_tests::servers::{MariaDb, Postgres};
use leases_tests::steps::{KEYS, Mix, step};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Runtime;

const FEW: Mix = Mix { keys: 0..KEYS.len(), holders: 8, limit_max: 4, pass_max: 1500 };

/// More slots than one byte has bits.
const MANY: Mix = Mix { holders: 60, limit_max: 40, ..FEW };

/// One line, of different limits, that is left alone for so long that calls are missed.
const MISSED: Mix = Mix { keys: 1..2, holders: 6, limit_max: 3, pass_max: 2500 };

/// How a database is compared: which lists, and how many.
type Lists = (&'static Mix, Range<usize>, u32);

const OF_FEW: Lists = (&FEW, 1..80, 300);
const OF_MANY: Lists = (&MANY, 100..300, 30);
const OF_MISSED: Lists = (&MISSED, 1..80, 400);

#[test]
fn postgres_does_what_the_model_does() {
    on_postgres(OF_FEW);
}

#[test]
fn postgres_does_what_the_model_does_with_many_slots() {
    on_postgres(OF_MANY);
}

#[test]
fn postgres_does_what_the_model_does_where_calls_are_missed() {
    on_postgres(OF_MISSED);
}

#[test]
fn sqlite_does_what_the_model_does() {
    on_sqlite(OF_FEW);
}

#[test]
fn sqlite_does_what_the_model_does_with_many_slots() {
    on_sqlite(OF_MANY);
}

#[test]
fn sqlite_does_what_the_model_does_where_calls_are_missed() {
    on_sqlite(OF_MISSED);
}

#[test]
fn mariadb_does_what_the_model_does() {
    on_mariadb(OF_FEW);
}

#[test]
fn mariadb_does_what_the_model_does_with_many_slots() {
    on_mariadb(OF_MANY);
}

#[test]
fn mariadb_does_what_the_model_does_where_calls_are_missed() {
    on_mariadb(OF_MISSED);
}

fn on_postgres(lists: Lists) {
    let runtime = runtime();
    let server = runtime.block_on(Postgres::start());
    on(&runtime, &server.url(), lists);
}

fn on_mariadb(lists: Lists) {
    let runtime = runtime();
    let server = runtime.block_on(MariaDb::start());
    on(&runtime, &server.url(), lists);
}

fn on_sqlite(lists: Lists) {
    let folder = tempfile::tempdir().unwrap();
    on(&runtime(), &format!("sqlite:{}", folder.path().join("leases.db").display()), lists);
}

/// One database for so many lists, one after the other.
fn on(runtime: &Runtime, url: &str, (mix, length, lists): Lists) {
    let time = ManualClock::new();
    let config = SqlConfig::from_url(url).unwrap().manual_clock(&time);
    let backend = runtime.block_on(SqlBackend::connect(config)).unwrap();
    runtime.block_on(backend.migrate()).unwrap();
    let backend: Arc<dyn Backend> = Arc::new(backend);
    let runs = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(lists) };
    let mut runner = TestRunner::new(runs);
    let compared = runner.run(&prop::collection::vec(step(mix), length), |steps| {
        runtime.block_on(compare(Arc::clone(&backend), &time, &steps));
        Ok(())
    });
    compared.unwrap();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
