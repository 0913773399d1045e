//! `leases migrate`, and what other commands say where it was not run.

use std::process::Command;
use std::thread;

use leases_tests::servers::{MariaDb, Postgres};
use sqlx::{Connection as _, PgConnection, raw_sql};

use crate::{Ran, leases, probe};

fn migrate(url: &str, args: &[&str]) -> Command {
    let mut command = leases();
    command.args(["migrate", "--backend", url]).args(args);
    command
}

fn run(url: &str) -> Ran {
    let mut command = leases();
    Ran::to_its_end(command.args([
        "run",
        &probe(),
        "--backend",
        url,
        "--allow",
        "a",
        "--",
        "lease",
        "a",
    ]))
}

/// A database without tables is told apart from one that does not answer, and with what to type.
fn is_made_once(url: &str) {
    run(url).refused(69, "run `leases migrate`");
    let first = Ran::to_its_end(&mut migrate(url, &[]));
    assert_eq!((first.status, &*first.out, &*first.err), (0, "applied 4 migrations\n", ""));
    let second = Ran::to_its_end(&mut migrate(url, &[]));
    assert_eq!((second.status, &*second.out), (0, "nothing to apply\n"));
    let third = Ran::to_its_end(&mut migrate(url, &["--json"]));
    assert_eq!((third.status, &*third.out), (0, "{\"applied\":0}\n"));
    let ran = run(url);
    assert_eq!((ran.status, &*ran.err), (0, ""));
}

#[tokio::test]
async fn the_tables_are_made_once_in_postgres() {
    is_made_once(&Postgres::start().await.url());
}

#[tokio::test]
async fn the_tables_are_made_once_in_mariadb() {
    is_made_once(&MariaDb::start().await.url());
}

#[test]
fn the_tables_are_made_once_in_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    is_made_once(&format!("sqlite:{}", folder.path().join("leases.db").display()));
}

/// Ten commands at once: each succeeds, and one of them finds something to do.
fn ten_at_once(url: &str) {
    let one = || Ran::to_its_end(&mut migrate(url, &[]));
    let ends = thread::scope(|scope| {
        let running: Vec<_> = (0..10).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|ran| ran.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(
        ends.iter().all(|ran| ran.status == 0),
        "{:?}",
        ends.iter().map(|ran| &ran.err).collect::<Vec<_>>()
    );
    let applied = ends.iter().filter(|ran| ran.out.starts_with("applied")).count();
    assert_eq!(applied, 1);
}

#[tokio::test]
async fn ten_migrate_postgres_at_once() {
    ten_at_once(&Postgres::start().await.url());
}

#[tokio::test]
async fn ten_migrate_mariadb_at_once() {
    ten_at_once(&MariaDb::start().await.url());
}

#[test]
fn ten_migrate_sqlite_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    ten_at_once(&format!("sqlite:{}", folder.path().join("leases.db").display()));
}

/// What a later version made is left as it is.
#[tokio::test]
async fn a_later_version_is_refused() {
    let server = Postgres::start().await;
    let url = server.url();
    assert_eq!(Ran::to_its_end(&mut migrate(&url, &[])).status, 0);
    let mut connection = PgConnection::connect(&url).await.expect("it is there");
    let later = "INSERT INTO leases_migrations (number, name) VALUES (999, 'later')";
    raw_sql(later).execute(&mut connection).await.expect("a row");
    for ran in [Ran::to_its_end(&mut migrate(&url, &[])), run(&url)] {
        ran.refused(69, "the tables are at migration 999, and this program knows 4");
    }
}

#[test]
fn elsewhere_there_is_nothing_to_do() {
    let ran = Ran::to_its_end(&mut migrate("memory:", &[]));
    assert_eq!((ran.status, &*ran.out), (0, "nothing to apply\n"));
}
