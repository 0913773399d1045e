//! Making the tables, and doing without them.

use leases::{Applied, Error, ErrorKind, Leases, Verdict};
use tokio::task::JoinSet;

use crate::live::{SECOND, lease_key, semaphore_key, until_free};
use crate::program::Program;
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    ten_processes_migrate_at_once,
    ten_handles_migrate_at_once,
    tables_of_a_later_version_are_refused,
    operations_without_tables_say_what_makes_them,
    the_migrations_of_the_programs_own_are_left_alone,
];

/// One applies all, the others wait and find nothing to do.
async fn ten_processes_migrate_at_once(on: On) {
    let site = on.start_empty().await;
    let start = |_| on.client(&site.url(), "migrate", "-", 0, 0);
    let mut all: Vec<Program> = (0..10).map(start).collect();
    for client in &mut all {
        assert_eq!(client.says(), "ready");
    }
    for client in &mut all {
        client.tell("go");
    }
    let applied: Vec<i64> = all.iter_mut().map(|one| one.says().parse().unwrap()).collect();
    is_one_of_ten(&applied, site.number("SELECT count(*) FROM leases_migrations").await);
    works(&site.connect().await).await;
}

async fn ten_handles_migrate_at_once(on: On) {
    let site = on.start_empty().await;
    let mut all = JoinSet::new();
    for _ in 0..10 {
        let leases = site.connect().await;
        all.spawn(async move { i64::from(leases.migrate().await.unwrap()) });
    }
    let applied = all.join_all().await;
    is_one_of_ten(&applied, site.number("SELECT count(*) FROM leases_migrations").await);
    let leases = site.connect().await;
    assert_eq!(leases.migrate().await.unwrap(), 0);
    works(&leases).await;
}

fn is_one_of_ten(applied: &[i64], migrations: i64) {
    let by_one = applied.iter().filter(|count| **count == migrations).count();
    let by_none = applied.iter().filter(|count| **count == 0).count();
    assert!(migrations > 0 && (by_one, by_none) == (1, 9), "{applied:?} of {migrations}");
}

/// Every operation but a migration.
pub(super) async fn works(leases: &Leases) {
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut place = leases.semaphore("a", 2).unwrap().acquire().await.unwrap();
    assert!(leases.lease("a").unwrap().try_acquire().await.unwrap().is_none());
    held.refresh().await.unwrap();
    let guard = leases.guard("a").unwrap();
    assert_eq!(guard.admit(held.fence()).await.unwrap(), Verdict::Admitted);
    assert_eq!(guard.current().await.unwrap(), Some(held.fence()));
    let waits = leases.lease("a").unwrap();
    let waiting = tokio::spawn(async move { waits.acquire().await });
    crate::live::until_seen(leases, &lease_key("a"), 1, 1).await;
    assert!(held.release().await.unwrap());
    assert!(waiting.await.unwrap().unwrap().release().await.unwrap());
    assert_eq!(leases.revoke(&semaphore_key("a"), None).await.unwrap(), 1);
    assert!(!place.release().await.unwrap());
}

/// A program that does not know the tables' version does nothing to them, and says which it is.
async fn tables_of_a_later_version_are_refused(on: On) {
    let site = on.start().await;
    let before = site.connect().await;
    site.tell("INSERT INTO leases_migrations (number, name) VALUES (999, 'of_later')").await;
    let by_connect = Leases::connect(site.url()).await.unwrap_err();
    let by_migrate = before.migrate().await.unwrap_err();
    for error in [by_connect, by_migrate] {
        let said = said(&error);
        assert!(said.contains("999") && said.contains("newer"), "{said}");
        assert_eq!(*error.kind(), ErrorKind::Unavailable(Applied::No));
    }
    assert_eq!(site.number("SELECT max(number) FROM leases_migrations").await, 999);
}

/// One line, with its sources.
fn said(error: &Error) -> String {
    let mut said = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        said += &format!(": {error}");
        source = error.source();
    }
    said
}

/// Every operation, and each at once, by a handle that works once the tables are there.
async fn operations_without_tables_say_what_makes_them(on: On) {
    let site = on.start_empty().await;
    let leases = site.connect_with("timeout=20s").await;
    let (lease, semaphore) = (leases.lease("a").unwrap(), leases.semaphore("a", 2).unwrap());
    let guard = leases.guard("a").unwrap();
    let one = leases::Fence::new(1).unwrap();
    let all = async {
        [
            lease.acquire().await.map(drop),
            lease.try_acquire().await.map(drop),
            semaphore.acquire().await.map(drop),
            semaphore.try_acquire().await.map(drop),
            leases.inspect(&lease_key("a")).await.map(drop),
            leases.revoke(&lease_key("a"), None).await.map(drop),
            guard.admit(one).await.map(drop),
            guard.current().await.map(drop),
        ]
    };
    let answers = tokio::time::timeout(10 * SECOND, all).await.expect("at once");
    for (number, answer) in answers.into_iter().enumerate() {
        let error = answer.expect_err("there is no table");
        let said = said(&error);
        assert!(said.contains("leases migrate"), "{number}: {said}");
        assert_eq!(*error.kind(), ErrorKind::Unavailable(Applied::No), "{number}: {said}");
    }
    assert!(leases.migrate().await.unwrap() > 0);
    works(&leases).await;
    until_free(&leases, &lease_key("a"), SECOND).await;
}

/// What a program that uses the driver's own migrations has: a table of its own name, and numbers
/// like ours.
async fn the_migrations_of_the_programs_own_are_left_alone(on: On) {
    let site = on.start_empty().await;
    let table = "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, \
        description varchar(200) NOT NULL, success boolean NOT NULL)";
    site.tell(table).await;
    site.tell("INSERT INTO _sqlx_migrations VALUES (1, 'grants', true), (999, 'late', true)").await;
    let leases = site.connect().await;
    assert!(leases.migrate().await.unwrap() > 0);
    assert_eq!(leases.migrate().await.unwrap(), 0);
    works(&leases).await;
    assert_eq!(site.number("SELECT count(*) FROM _sqlx_migrations").await, 2);
    assert_eq!(site.number("SELECT count(*) FROM leases_migrations WHERE number = 999").await, 0);
}
