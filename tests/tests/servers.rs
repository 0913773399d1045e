//! The servers and the proxy that other tests rely on do what they say.

use std::time::Duration;

use leases_tests::servers::Redis;

async fn set(server: &Redis, key: &str, value: &str) {
    server.ask(redis::cmd("SET").arg(key).arg(value)).await
}

async fn get(server: &Redis, key: &str) -> Option<String> {
    server.ask(redis::cmd("GET").arg(key)).await
}

#[tokio::test]
async fn a_durable_server_comes_back_with_its_data() {
    let server = Redis::start_durable().await;
    set(&server, "a", "1").await;
    let (first, url) = (server.process_id(), server.url());
    server.kill_9();
    server.restart().await;
    assert_ne!(server.process_id(), first);
    assert_eq!(server.url(), url);
    assert_eq!(get(&server, "a").await.as_deref(), Some("1"));
    set(&server, "a", "2").await;
    server.restart().await;
    assert_eq!(get(&server, "a").await.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_server_that_is_not_durable_comes_back_empty() {
    let server = Redis::start().await;
    set(&server, "a", "1").await;
    server.restart().await;
    assert!(server.keys().await.is_empty());
}

#[tokio::test]
async fn a_paused_server_answers_when_it_goes_on() {
    let server = Redis::start().await;
    let mut connection = server.connection().await;
    server.pause();
    let get = redis::cmd("GET").arg("a").take();
    let asking = get.query_async::<Option<String>>(&mut connection);
    tokio::pin!(asking);
    // A real wait: an answer takes a hundredth of it.
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut asking).await.is_err());
    server.resume();
    assert_eq!(asking.await.expect("it goes on"), None);
}

#[tokio::test]
async fn a_paused_server_can_be_stopped() {
    let server = Redis::start().await;
    server.pause();
    server.restart().await;
    set(&server, "a", "1").await;
}

#[tokio::test]
async fn what_a_server_was_asked_is_counted() {
    let server = Redis::start().await;
    let script = "return redis.call('INCR', KEYS[1])";
    server.reset_stats().await;
    let loaded: String = server.ask(redis::cmd("SCRIPT").arg("LOAD").arg(script)).await;
    let _: u64 = server.ask(redis::cmd("EVALSHA").arg(&loaded).arg(1).arg("a")).await;
    let _: u64 = server.ask(redis::cmd("EVALSHA").arg(&loaded).arg(1).arg("b")).await;
    assert_eq!(server.command_calls("evalsha").await, 2);
    assert_eq!(server.command_calls("incr").await, 2);
    assert_eq!(server.command_calls("script|load").await, 1);
    assert_eq!(server.command_calls("get").await, 0);
    assert_eq!(server.total_commands().await, 5);
    assert_eq!(server.changes_since_save().await, 2);
    assert_eq!(server.keys().await, [b"a", b"b"]);
    assert!(server.used_memory().await > 0);
    server.reset_stats().await;
    assert_eq!(server.total_commands().await, 0);
}

#[tokio::test]
async fn a_server_forgets_what_it_is_told_to() {
    let server = Redis::start().await;
    let loaded: String = server.ask(redis::cmd("SCRIPT").arg("LOAD").arg("return 1")).await;
    let exists = redis::cmd("SCRIPT").arg("EXISTS").arg(&loaded).take();
    assert_eq!(server.ask::<Vec<bool>>(&exists).await, [true]);
    server.flush_scripts().await;
    assert_eq!(server.ask::<Vec<bool>>(&exists).await, [false]);
    set(&server, "a", "1").await;
    server.flush_all().await;
    assert!(server.keys().await.is_empty());
}

#[tokio::test]
async fn killed_clients_are_cut() {
    let server = Redis::start().await;
    let mut connection = server.connection().await;
    let ping = redis::cmd("PING");
    ping.query_async::<()>(&mut connection).await.expect("it is open");
    server.kill_clients().await;
    ping.query_async::<()>(&mut connection).await.expect_err("it is cut");
}

#[tokio::test]
async fn many_servers_start_at_once() {
    let starting: Vec<_> = (0..8).map(|_| tokio::spawn(Redis::start())).collect();
    for server in starting {
        set(&server.await.expect("it starts"), "a", "1").await;
    }
}

#[tokio::test]
#[should_panic(expected = "Bad directive or wrong number of arguments")]
async fn a_server_that_does_not_start_shows_its_log() {
    Redis::start_with(&["no-such-line 1"]).await;
}

/// What Linux alone can do and show.
#[cfg(target_os = "linux")]
mod ends {
    use std::fs;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use leases_tests::servers::{Redis, until};
    use tempfile::TempDir;

    #[tokio::test]
    async fn a_dropped_server_is_gone_with_its_folder() {
        let server = Redis::start().await;
        let (id, folder) = (server.process_id(), server.folder().to_owned());
        assert!(runs(id) && folder.exists());
        drop(server);
        assert!(!runs(id) && !folder.exists());
    }

    #[tokio::test]
    async fn a_server_dies_with_a_process_that_is_killed() {
        // Who is killed can't delete its server's folder.
        let temporary = TempDir::new().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_serving"));
        command.arg("redis").env("TMPDIR", temporary.path()).stdout(Stdio::piped());
        let mut parent = command.spawn().expect("it starts");
        let mut said = String::new();
        let mut stdout = BufReader::new(parent.stdout.take().expect("piped"));
        stdout.read_line(&mut said).expect("it says its server's id");
        let id = said.trim().parse().expect("an id");
        assert!(runs(id));
        parent.kill().expect("it is ours");
        parent.wait().expect("it is ours");
        until("the server is gone", || async { (!runs(id)).then_some(()) }).await;
    }

    /// One that has ended and that nobody has asked for its status does not run.
    fn runs(id: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:") && !line.contains("zombie"))
    }
}
