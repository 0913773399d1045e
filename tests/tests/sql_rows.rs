//! What is asked of the databases whose rules are run here beyond the model: SQLite, MySQL, MariaDB.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use leases::spec::{Ask, Mode};
use leases::{
    Backend as _, ErrorKind, HolderId, Key, Kind, Leases, Limit, Name, SqlBackend, SqlConfig, Ttl,
    TtlBounds,
};
use leases_tests::servers::MariaDb;
use sqlx::Row as _;
use tempfile::TempDir;

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// A database of its own, gone with it.
struct Fresh {
    url: String,
    _kept: Kept,
}

/// What lives as long as a database.
enum Kept {
    Folder { _folder: TempDir },
    Server { _server: MariaDb },
}

fn sqlite() -> Fresh {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("leases.db").display());
    Fresh { url, _kept: Kept::Folder { _folder: folder } }
}

async fn mariadb() -> Fresh {
    let server = MariaDb::start().await;
    Fresh { url: server.url(), _kept: Kept::Server { _server: server } }
}

impl Fresh {
    fn config(&self) -> SqlConfig {
        SqlConfig::from_url(&self.url).unwrap().request_timeout(20 * SECOND)
    }

    async fn backend(&self) -> SqlBackend {
        let backend = SqlBackend::connect(self.config()).await.unwrap();
        backend.migrate().await.unwrap();
        backend
    }

    async fn leases(&self) -> Leases {
        Leases::builder(Arc::new(self.backend().await)).build()
    }
}

/// Each case on each database.
macro_rules! on_each {
    ($($case:ident),+ $(,)?) => {
        mod sqlite_file {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(super::sqlite()).await })+
        }
        mod mariadb_server {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(super::mariadb().await).await })+
        }
    };
}

on_each!(
    ten_that_migrate_at_once_apply_each_migration_once,
    tables_of_a_later_version_are_refused,
    what_is_not_migrated_is_told,
    names_compare_byte_for_byte,
    a_lease_is_held_by_one_at_a_time,
    a_semaphore_is_held_by_no_more_than_its_limit,
    a_waiter_of_another_handle_is_woken,
    what_is_idle_is_forgotten_and_what_is_not_is_kept,
    a_pool_of_the_programs_own_is_enough,
    rows_that_were_removed_by_hand_are_made_again,
    who_lapsed_and_asks_again_is_told_its_new_place,
);

async fn ten_that_migrate_at_once_apply_each_migration_once(fresh: Fresh) {
    let applied: Vec<_> = (0..10)
        .map(|_| {
            let config = fresh.config();
            tokio::spawn(async move {
                let backend = SqlBackend::connect(config).await.unwrap();
                backend.migrate().await.unwrap()
            })
        })
        .collect();
    let mut steps = 0;
    for one in applied {
        steps += one.await.unwrap();
    }
    assert_eq!(steps, 4);
    assert_eq!(fresh.backend().await.migrate().await.unwrap(), 0);
}

async fn tables_of_a_later_version_are_refused(fresh: Fresh) {
    let backend = fresh.backend().await;
    fresh.run("INSERT INTO leases_migrations (number, name) VALUES (9999, 'later')").await;
    let refused = SqlBackend::connect(fresh.config()).await.unwrap_err();
    assert!(format!("{refused:?}").contains("use a newer one"), "{refused:?}");
    let refused = backend.migrate().await.unwrap_err();
    assert!(refused.source.to_string().contains("9999"), "{refused:?}");
}

async fn what_is_not_migrated_is_told(fresh: Fresh) {
    let backend = SqlBackend::connect(fresh.config()).await.unwrap();
    let refused = backend.ask(&ask("a", 1, Mode::Once)).await.unwrap_err();
    assert_eq!(refused.applied, leases::Applied::No);
    assert!(refused.source.to_string().contains("leases migrate"), "{refused:?}");
}

async fn names_compare_byte_for_byte(fresh: Fresh) {
    let leases = fresh.leases().await;
    let long = "x".repeat(512);
    let names =
        ["a", "A", "a ", " a", "a  ", "á", "a\u{301}", "Å", "å", "ß", "ss", "%", "_", "'", &long];
    let mut held = Vec::new();
    for name in names {
        held.push(leases.lease(name).unwrap().try_acquire().await.unwrap().expect(name));
        assert!(leases.lease(name).unwrap().try_acquire().await.unwrap().is_none());
        drop(leases.semaphore(name, 1).unwrap().try_acquire().await.unwrap().expect(name));
    }
    assert_eq!(held.len(), names.len());
    for lease in &mut held {
        lease.refresh().await.unwrap();
        assert!(lease.release().await.unwrap());
    }
}

/// So many tasks, over three handles, that each acquire and release so often.
const TASKS: usize = 12;
const TIMES: usize = 15;

async fn a_lease_is_held_by_one_at_a_time(fresh: Fresh) {
    let held = Arc::new(AtomicI32::new(0));
    let greatest = Arc::new(std::sync::Mutex::new(0));
    let all = contend(&fresh, |leases| {
        let (held, greatest) = (Arc::clone(&held), Arc::clone(&greatest));
        let request = leases.lease("a").unwrap().ttl(60 * SECOND).wait(60 * SECOND);
        async move {
            for _ in 0..TIMES {
                let mut lease = request.acquire().await.unwrap();
                assert_eq!(held.fetch_add(1, Ordering::SeqCst), 0);
                let fence = lease.fence().as_u64();
                let before = std::mem::replace(&mut *greatest.lock().unwrap(), fence);
                assert!(before < fence, "{before} {fence}");
                tokio::task::yield_now().await;
                assert_eq!(held.fetch_sub(1, Ordering::SeqCst), 1);
                assert!(lease.release().await.unwrap());
            }
        }
    });
    all.await;
}

async fn a_semaphore_is_held_by_no_more_than_its_limit(fresh: Fresh) {
    let held = Arc::new(AtomicI32::new(0));
    let slots = Arc::new([const { AtomicU32::new(0) }; 3]);
    let all = contend(&fresh, |leases| {
        let (held, slots) = (Arc::clone(&held), Arc::clone(&slots));
        let request = leases.semaphore("a", 3).unwrap().ttl(60 * SECOND).wait(60 * SECOND);
        async move {
            for _ in 0..TIMES {
                let mut permit = request.acquire().await.unwrap();
                assert!(held.fetch_add(1, Ordering::SeqCst) < 3);
                let slot = &slots[permit.slot() as usize];
                assert_eq!(slot.fetch_add(1, Ordering::SeqCst), 0, "two in one slot");
                tokio::task::yield_now().await;
                assert_eq!(slot.fetch_sub(1, Ordering::SeqCst), 1);
                held.fetch_sub(1, Ordering::SeqCst);
                assert!(permit.release().await.unwrap());
            }
        }
    });
    all.await;
}

async fn contend<F>(fresh: &Fresh, each: impl Fn(Leases) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let handles = [fresh.leases().await, fresh.leases().await, fresh.leases().await];
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..TASKS {
        tasks.spawn(each(handles[number % handles.len()].clone()));
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

async fn a_waiter_of_another_handle_is_woken(fresh: Fresh) {
    let (one, other) = (fresh.leases().await, fresh.leases().await);
    let mut held = one.lease("a").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
    let request = other.lease("a").unwrap().ttl(60 * SECOND).wait(60 * SECOND);
    let waiter = tokio::spawn(async move { (request.acquire().await.unwrap(), Instant::now()) });
    until_there_are(&fresh, "leases_tickets", 1).await;
    tokio::time::sleep(200 * MS).await;
    let released = Instant::now();
    assert!(held.release().await.unwrap());
    let (lease, woken) = waiter.await.unwrap();
    // It looks every 50 ms; with a second of margin for a busy machine.
    assert!(woken - released < SECOND, "{:?}", woken - released);
    drop(lease);
}

async fn what_is_idle_is_forgotten_and_what_is_not_is_kept(fresh: Fresh) {
    fresh.backend().await;
    let config = fresh.config().retention(100 * MS);
    let leases = Leases::builder(Arc::new(SqlBackend::connect(config).await.unwrap())).build();
    let mut kept = leases.lease("kept").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
    for number in 0..250 {
        let mut lease = leases.lease(format!("idle:{number}")).unwrap().acquire().await.unwrap();
        assert!(lease.release().await.unwrap());
        let mut permit = leases.semaphore("s", 2).unwrap().acquire().await.unwrap();
        assert!(permit.release().await.unwrap());
        let guard = leases.guard(format!("guarded:{number}")).unwrap();
        let _ = guard.admit(lease.fence()).await.unwrap();
    }
    until_there_are(&fresh, "leases_grants", 1).await;
    until_there_are(&fresh, "leases_guards", 0).await;
    assert!(kept.release().await.unwrap());
    until_there_are(&fresh, "leases_grants", 0).await;
    let fence = kept.fence();
    assert!(leases.lease("kept").unwrap().acquire().await.unwrap().fence() > fence);
}

/// Its connections are as the driver makes them: no time-outs and no isolation level of ours.
async fn a_pool_of_the_programs_own_is_enough(fresh: Fresh) {
    let config = match fresh.url.strip_prefix("sqlite:") {
        Some(file) => {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
            let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(3);
            SqlConfig::sqlite(pool.connect_lazy_with(options.create_if_missing(true)))
        }
        None => SqlConfig::mysql(sqlx::MySqlPool::connect(&fresh.url).await.unwrap()),
    };
    let backend = Arc::new(SqlBackend::connect(config.request_timeout(20 * SECOND)).await.unwrap());
    backend.migrate().await.unwrap();
    let leases = Leases::builder(backend).build();
    let mut tasks = tokio::task::JoinSet::new();
    let held = Arc::new(AtomicI32::new(0));
    for _ in 0..6 {
        let request = leases.semaphore("a", 2).unwrap().ttl(60 * SECOND).wait(60 * SECOND);
        let held = Arc::clone(&held);
        tasks.spawn(async move {
            for _ in 0..10 {
                let mut permit = request.acquire().await.unwrap();
                assert!(held.fetch_add(1, Ordering::SeqCst) < 2);
                permit.refresh().await.unwrap();
                held.fetch_sub(1, Ordering::SeqCst);
                assert!(permit.release().await.unwrap());
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

async fn rows_that_were_removed_by_hand_are_made_again(fresh: Fresh) {
    let leases = fresh.leases().await;
    let semaphore = leases.semaphore("a", 9).unwrap().ttl(60 * SECOND);
    let mut permits = Vec::new();
    for _ in 0..4 {
        permits.push(semaphore.acquire().await.unwrap());
    }
    for slot in [1, 0] {
        fresh.run(&format!("DELETE FROM leases_grants WHERE slot = {slot}")).await;
        let again = semaphore.acquire().await.unwrap();
        assert_eq!(again.slot(), slot);
        permits.push(again);
    }
    let next = semaphore.acquire().await.unwrap();
    assert_eq!(next.slot(), 4);
    for permit in &mut permits[2..] {
        assert!(permit.release().await.unwrap(), "{permit:?}");
    }
}

/// Behind more of the line than is read at first.
async fn who_lapsed_and_asks_again_is_told_its_new_place(fresh: Fresh) {
    let backend = fresh.backend().await;
    let waits = |millis| ask("a", 1, Mode::Wait { patience: millis * MS });
    let lapses = waits(300);
    backend.ask(&waits(60_000)).await.unwrap();
    for _ in 0..3 {
        backend.ask(&waits(60_000)).await.unwrap();
    }
    backend.ask(&lapses).await.unwrap();
    backend.ask(&waits(60_000)).await.unwrap();
    tokio::time::sleep(400 * MS).await;
    let again = backend.ask(&lapses).await.unwrap();
    assert!(matches!(again, leases::spec::Answer::Waiting { position: 4, .. }), "{again:?}");
}

#[test]
fn what_is_no_file_or_no_database_is_refused() {
    for bad in [
        "sqlite:",
        "sqlite::memory:",
        "sqlite://:memory:",
        "sqlite:a.db?mode=memory",
        "sqlite:a.db?mode=ro",
        "sqlite:a.db?cache=shared",
        "sqlite:a.db?timeout=0s",
        "mysql://root:secret@localhost",
        "mysql://root:secret@localhost/",
        "mysql://root:secret@localhost/db?sslmod=REQUIRED",
        "mariadb://root:secret@localhost/db?connections=many",
    ] {
        let refused = SqlConfig::from_url(bad).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{bad}: {refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
    let hint = SqlConfig::from_url("sqlite::memory:").unwrap_err().to_string();
    assert!(hint.contains("memory:"), "{hint}");
    for good in ["sqlite:a%20b.db?connections=2", "sqlite:///tmp/a.db?mode=rw", "sqlite://a.db"] {
        SqlConfig::from_url(good).unwrap();
    }
    for good in ["mysql://h/d?ssl-mode=REQUIRED&timeout=1s", "mariadb://u:secret@h:3307/d"] {
        let config = SqlConfig::from_url(good).unwrap();
        assert!(!format!("{config:?}").contains("secret"), "{config:?}");
    }
}

async fn until_there_are(fresh: &Fresh, table: &str, rows: i64) {
    let until = Instant::now() + 30 * SECOND;
    loop {
        let counted = fresh.run(&format!("SELECT COUNT(*) FROM {table}")).await;
        if counted == Some(rows) {
            return;
        }
        assert!(Instant::now() < until, "{counted:?} in {table}, and not {rows}");
        tokio::time::sleep(20 * MS).await;
    }
}

impl Fresh {
    /// Runs a statement; answers its number, if it has one.
    async fn run(&self, statement: &str) -> Option<i64> {
        let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned()));
        if self.url.starts_with("sqlite") {
            let pool = sqlx::SqlitePool::connect(&self.url).await.unwrap();
            statement.fetch_optional(&pool).await.unwrap().map(|row| row.get(0))
        } else {
            let pool = sqlx::MySqlPool::connect(&self.url).await.unwrap();
            let row = statement.fetch_optional(&pool).await.unwrap();
            pool.close().await;
            row.map(|row| row.get(0))
        }
    }
}

fn ask(name: &str, limit: u32, mode: Mode) -> Ask {
    Ask {
        key: Key { kind: Kind::Lease, name: Name::new(name).unwrap() },
        limit: Limit::new(limit).unwrap(),
        holder: HolderId::random(),
        owner: None,
        ttl: Ttl::new(60 * SECOND, TtlBounds::default()).unwrap(),
        max_hold: None,
        note: None,
        mode,
    }
}
