//! Random lists of operations on SQL databases, which are told the time, beside the model.

use std::ops::Range;
use std::sync::Arc;

use leases::{Backend, ManualClock, SqlBackend, SqlConfig};
use leases_tests::compare::compare;
use leases_tests::steps::{KEYS, Mix, step};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Runtime;

const FEW: Mix = Mix { keys: 0..KEYS.len(), holders: 8, limit_max: 4, pass_max: 1500 };

/// More slots than one byte has bits.
const MANY: Mix = Mix { holders: 60, limit_max: 40, ..FEW };

/// One line, of different limits, that is left alone for so long that calls are missed.
const MISSED: Mix = Mix { keys: 1..2, holders: 6, limit_max: 3, pass_max: 2500 };

#[test]
fn postgres_does_what_the_model_does() {
    on("postgres://postgres@127.0.0.1:54999/postgres", &FEW, 1..80, 300);
}

#[test]
fn postgres_does_what_the_model_does_with_many_slots() {
    on("postgres://postgres@127.0.0.1:54999/postgres", &MANY, 100..300, 30);
}

#[test]
fn postgres_does_what_the_model_does_where_calls_are_missed() {
    on("postgres://postgres@127.0.0.1:54999/postgres", &MISSED, 1..80, 400);
}

#[test]
fn sqlite_does_what_the_model_does() {
    in_a_file(&FEW, 1..80, 300);
}

#[test]
fn sqlite_does_what_the_model_does_with_many_slots() {
    in_a_file(&MANY, 100..300, 30);
}

#[test]
fn sqlite_does_what_the_model_does_where_calls_are_missed() {
    in_a_file(&MISSED, 1..80, 400);
}

#[test]
fn mariadb_does_what_the_model_does() {
    on(&mariadb(), &FEW, 1..80, 300);
}

#[test]
fn mariadb_does_what_the_model_does_with_many_slots() {
    on(&mariadb(), &MANY, 100..300, 30);
}

#[test]
fn mariadb_does_what_the_model_does_where_calls_are_missed() {
    on(&mariadb(), &MISSED, 1..80, 400);
}

fn mariadb() -> String {
    std::env::var("LEASES_TEST_MYSQL").expect("a URL of a MariaDB in LEASES_TEST_MYSQL")
}

fn in_a_file(mix: &Mix, length: Range<usize>, lists: u32) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leases.db");
    on(&format!("sqlite:{}", file.display()), mix, length, lists);
}

/// One server for so many lists, one after the other.
fn on(url: &str, mix: &Mix, length: Range<usize>, lists: u32) {
    let (runtime, time) = (runtime(), ManualClock::new());
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
