//! A PostgreSQL server.

use leases_tests::servers::Postgres;
use sqlx::{Connection as _, PgConnection};

use crate::NO_ANSWER;

async fn tell(connection: &mut PgConnection, statement: &'static str) {
    sqlx::raw_sql(statement).execute(connection).await.expect(statement);
}

async fn count(connection: &mut PgConnection) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM kept").fetch_one(connection);
    count.await.expect("a number")
}

async fn filled(server: &Postgres) {
    let mut connection = server.connection().await;
    tell(&mut connection, "CREATE TABLE kept (value int)").await;
    tell(&mut connection, "INSERT INTO kept VALUES (1), (2)").await;
}

#[tokio::test]
async fn the_url_leads_to_it() {
    let server = Postgres::start().await;
    let mut connection = PgConnection::connect(&server.url()).await.expect("it listens");
    tell(&mut connection, "CREATE TABLE kept (value int)").await;
    assert_eq!(count(&mut server.connection().await).await, 0);
}

#[tokio::test]
async fn a_server_that_is_restarted_has_its_data() {
    let server = Postgres::start().await;
    filled(&server).await;
    let (first, url) = (server.process_id(), server.url());
    // A client that stays does not hold it up.
    let _open = server.connection().await;
    server.restart().await;
    assert_ne!(server.process_id(), first);
    assert_eq!(server.url(), url);
    assert_eq!(count(&mut server.connection().await).await, 2);
}

#[tokio::test]
async fn a_server_that_is_killed_comes_back_with_its_data() {
    for server in [Postgres::start().await, Postgres::start_durable().await] {
        filled(&server).await;
        let mut open = server.connection().await;
        server.kill_9();
        assert!(open.ping().await.is_err());
        server.restart().await;
        assert_eq!(count(&mut server.connection().await).await, 2);
    }
}

#[tokio::test]
async fn a_paused_server_answers_when_it_goes_on() {
    let server = Postgres::start().await;
    filled(&server).await;
    let mut connection = server.connection().await;
    server.pause();
    {
        let counting = count(&mut connection);
        tokio::pin!(counting);
        assert!(tokio::time::timeout(NO_ANSWER, &mut counting).await.is_err());
        server.resume();
        assert_eq!(counting.await, 2);
    }
    server.pause();
    server.restart().await;
    assert_eq!(count(&mut server.connection().await).await, 2);
}

#[tokio::test]
async fn killed_clients_are_cut() {
    let server = Postgres::start().await;
    let mut connection = server.connection().await;
    connection.ping().await.expect("it is open");
    server.kill_clients().await;
    connection.ping().await.expect_err("it is cut");
    server.connection().await.ping().await.expect("another is not");
}

#[tokio::test]
async fn the_log_grows_with_what_is_written_alone() {
    let server = Postgres::start().await;
    filled(&server).await;
    let mut connection = server.connection().await;
    let before = server.wal_position().await;
    assert_eq!(count(&mut connection).await, 2);
    assert_eq!(server.wal_position().await, before);
    tell(&mut connection, "INSERT INTO kept VALUES (3)").await;
    assert!(server.wal_position().await > before);
}

#[tokio::test]
async fn what_a_server_was_asked_is_counted() {
    let server = Postgres::start_counting().await;
    filled(&server).await;
    let mut connection = server.connection().await;
    server.reset_stats().await;
    let before = server.calls_like("%").await;
    for _ in 0..3 {
        count(&mut connection).await;
    }
    tell(&mut connection, "BEGIN").await;
    tell(&mut connection, "INSERT INTO kept VALUES (7)").await;
    tell(&mut connection, "COMMIT").await;
    assert_eq!(server.calls_like("SELECT count(%").await, 3);
    assert_eq!(server.calls_like("INSERT INTO kept VALUES ($1)").await, 1);
    assert_eq!(server.calls_like("%").await - before, 6);
    let function = "CREATE FUNCTION filled() RETURNS bigint LANGUAGE plpgsql AS \
        $$ BEGIN RETURN (SELECT count(*) FROM kept); END $$";
    tell(&mut connection, function).await;
    tell(&mut connection, "SELECT filled()").await;
    assert_eq!(server.calls_like("SELECT filled()").await, 1);
    assert_eq!(server.inner_calls_like("%count(*) FROM kept%").await, 1);
    assert_eq!(server.inner_calls_like("SELECT filled()").await, 0);
    server.restart().await;
    assert_eq!(server.calls_like("SELECT count(%").await, 3);
    server.reset_stats().await;
    assert_eq!(server.calls_like("%").await, 0);
}

#[tokio::test]
async fn a_server_that_asks_for_passwords_lets_in_who_knows_one() {
    let server = Postgres::start().await;
    server.ask_for_passwords().await;
    let mut connection = server.connection().await;
    tell(&mut connection, "CREATE ROLE app LOGIN PASSWORD 'right'").await;
    for (login, is_let_in) in [("app:right", true), ("app:wrong", false), ("app", false)] {
        let url = format!("postgres://{login}@{}/postgres", server.address());
        assert_eq!(PgConnection::connect(&url).await.is_ok(), is_let_in, "{login}");
    }
}

#[tokio::test]
async fn lines_are_added_to_its_configuration() {
    let server = Postgres::start_with(&["max_connections = 7"]).await;
    let show = sqlx::query_scalar::<_, String>("SHOW max_connections");
    let shown = show.fetch_one(&mut server.connection().await).await;
    assert_eq!(shown.expect("a setting"), "7");
}

#[tokio::test]
#[should_panic(expected = "unrecognized configuration parameter")]
async fn a_server_that_does_not_start_shows_its_log() {
    Postgres::start_with(&["no_such_setting = 1"]).await;
}

#[tokio::test]
async fn many_servers_start_at_once() {
    let starting: Vec<_> = (0..4).map(|_| tokio::spawn(Postgres::start())).collect();
    for server in starting {
        filled(&server.await.expect("it starts")).await;
    }
}
