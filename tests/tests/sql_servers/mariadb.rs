//! A MariaDB server.

use leases_tests::servers::MariaDb;
use sqlx::{Connection as _, MySqlConnection};

use crate::NO_ANSWER;

async fn tell(connection: &mut MySqlConnection, statement: &'static str) {
    sqlx::raw_sql(statement).execute(connection).await.expect(statement);
}

async fn count(connection: &mut MySqlConnection) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM kept").fetch_one(connection);
    count.await.expect("a number")
}

async fn filled(server: &MariaDb) {
    let mut connection = server.connection().await;
    tell(&mut connection, "CREATE TABLE kept (value int)").await;
    tell(&mut connection, "INSERT INTO kept VALUES (1), (2)").await;
}

#[tokio::test]
async fn the_url_leads_to_a_user_of_one_database() {
    let server = MariaDb::start().await;
    let mut connection = MySqlConnection::connect(&server.url()).await.expect("it listens");
    tell(&mut connection, "CREATE TABLE kept (value int)").await;
    assert_eq!(count(&mut server.connection().await).await, 0);
    let create = sqlx::raw_sql("CREATE DATABASE another").execute(&mut connection);
    create.await.expect_err("it may not");
    tell(&mut server.connection().await, "CREATE DATABASE another").await;
}

#[tokio::test]
async fn a_server_that_is_restarted_has_its_data() {
    let server = MariaDb::start().await;
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
    for server in [MariaDb::start().await, MariaDb::start_durable().await] {
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
    let server = MariaDb::start().await;
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
    let server = MariaDb::start().await;
    let mut connection = server.connection().await;
    connection.ping().await.expect("it is open");
    server.kill_clients().await;
    connection.ping().await.expect_err("it is cut");
    server.connection().await.ping().await.expect("another is not");
}

#[tokio::test]
async fn options_are_added() {
    let server = MariaDb::start_with(&["--default-time-zone=+05:45"]).await;
    let zone = sqlx::query_scalar::<_, String>("SELECT @@global.time_zone");
    let zone = zone.fetch_one(&mut server.connection().await).await;
    assert_eq!(zone.expect("a zone"), "+05:45");
}

#[tokio::test]
#[should_panic(expected = "unknown variable")]
async fn a_server_that_does_not_start_shows_its_log() {
    MariaDb::start_with(&["--no-such-option=1"]).await;
}

#[tokio::test]
async fn many_servers_start_at_once() {
    let starting: Vec<_> = (0..4).map(|_| tokio::spawn(MariaDb::start())).collect();
    for server in starting {
        filled(&server.await.expect("it starts")).await;
    }
}
