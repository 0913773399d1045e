//! `leases watch`, in a terminal.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use leases::{Lease, Leases};
use leases_tests::servers::Redis;
use leases_tests::terminal::Terminal;
use rustix::process::Signal;

use crate::kept::Kept;
use crate::{Ran, leases};

const BEFORE: &str = "what stood there before";

fn command(url: &str, args: &[&str]) -> Command {
    let mut command = leases();
    command.args(["watch", "--backend", url]).args(args);
    command
}

/// Starts it in a terminal, and waits until it has looked.
#[track_caller]
fn watching(url: &str, args: &[&str], size: (u16, u16)) -> Terminal {
    let terminal = Terminal::start(command(url, args), size, BEFORE);
    terminal.wait_for("its screen", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && screen.contents().contains(" hold, ")
    });
    terminal
}

async fn held(leases: &Leases, name: &str, owner: &str) -> Lease {
    let request = leases.lease(name).expect("a name").owner(owner).ttl(Duration::from_secs(60));
    request.acquire().await.expect("it is free")
}

/// The line on which this is shown has this too.
fn says(screen: &vt100::Screen, of: &str, what: &str) -> bool {
    let text = screen.contents();
    text.lines().any(|line| line.contains(of) && line.contains(what))
}

/// It has ended so, and left everything as it was.
#[track_caller]
fn assert_ended(terminal: Terminal, status: i32) {
    let found = terminal.found().clone();
    let (ended, left, text) = terminal.ended();
    assert_eq!(ended.code(), Some(status), "{text}");
    assert_eq!(left, found, "{text}");
    assert_eq!(text.trim(), BEFORE, "and nothing else");
}

async fn changes_are_seen(kept: Kept) {
    let url = kept.url();
    let leases = kept.connect().await;
    let terminal = watching(&url, &["import:*"], (10, 120));
    terminal.wait_for_text("0 hold, 0 wait");
    let first = held(&leases, "import:42", "job-7").await;
    terminal.wait_for("it holds", |screen| says(screen, "job-7", "holds"));
    let other = held(&leases, "other", "job-9").await;
    let waiting = leases.clone();
    let waiting = tokio::spawn(async move { held(&waiting, "import:42", "job-8").await });
    terminal.wait_for("one waits", |screen| says(screen, "job-8", "waits 1"));
    terminal.wait_for_text("1 hold, 1 wait");
    let mut first = first;
    assert!(first.release().await.expect("it answers"));
    let second = waiting.await.expect("no panic");
    let text = terminal.wait_for("it moved up", |screen| says(screen, "job-8", "holds"));
    assert!(!text.contains("job-7") && !text.contains("job-9"), "{text}");
    let mut revoke = crate::leases();
    let revoked = Ran::to_its_end(revoke.args(["revoke", "import:42", "--backend", &url]));
    assert_eq!((revoked.status, &*revoked.err), (0, ""));
    let text = terminal.wait_for_text("0 hold, 0 wait");
    assert!(!text.contains("job-8"), "{text}");
    terminal.press("q");
    assert_ended(terminal, 0);
    drop((second, other));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_is_seen_over_redis() {
    changes_are_seen(Kept::in_redis().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_is_seen_over_sqlite() {
    changes_are_seen(Kept::in_sqlite().await).await;
}

/// However it ends, the terminal is as it was. Of a panic this is shown beside the code that does it.
#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_is_left_as_it_was() {
    let kept = Kept::in_sqlite().await;
    for (keys, status) in [("q", 0), ("\u{1b}", 0), ("\u{3}", 0)] {
        let terminal = watching(&kept.url(), &[], (8, 80));
        terminal.press(keys);
        assert_ended(terminal, status);
    }
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let terminal = watching(&kept.url(), &[], (8, 80));
        terminal.signal(signal);
        assert_ended(terminal, status);
    }
}

/// The last answer stays, with a line above it, until there is another.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_said_and_waited_for() {
    let redis = Redis::start().await;
    let leases = Leases::connect(redis.url()).await.expect("it is there");
    let mut lease = held(&leases, "import:42", "job-7").await;
    let url = format!("{}?timeout=500ms", redis.url());
    let terminal = watching(&url, &["--every", "100ms"], (8, 100));
    terminal.wait_for("it holds", |screen| says(screen, "job-7", "holds"));
    redis.pause();
    let text = terminal.wait_for("how long", |screen| says(screen, "no answer for ", "2s: "));
    assert!(text.contains("job-7"), "{text}");
    assert!(!text.contains(&redis.address().to_string()), "{text}");
    redis.resume();
    assert!(lease.release().await.expect("it answers"));
    let text = terminal.wait_for_text("0 hold, 0 wait");
    assert!(!text.contains("no answer"), "{text}");
    terminal.press("q");
    assert_ended(terminal, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_looks_at_once_when_it_is_told_to() {
    let kept = Kept::in_sqlite().await;
    let terminal = watching(&kept.url(), &["--every", "1h"], (8, 80));
    let lease = held(&kept.connect().await, "import:42", "job-7").await;
    terminal.wait_for("the times go on", |screen| says(screen, "looked ", "2s ago"));
    let text = terminal.wait_for_text("0 hold, 0 wait");
    assert!(!text.contains("job-7"), "{text}");
    terminal.press("r");
    terminal.wait_for("it holds", |screen| says(screen, "job-7", "holds"));
    terminal.press("q");
    assert_ended(terminal, 0);
    drop(lease);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_the_terminal_has_room_for_is_scrolled_to() {
    let kept = Kept::in_sqlite().await;
    let leases = kept.connect().await;
    let mut all = Vec::new();
    for number in 0..12 {
        all.push(held(&leases, &format!("n{number:02}"), "job-7").await);
    }
    let terminal = watching(&kept.url(), &[], (7, 130));
    let text = terminal.wait_for_text("1-4 of 12");
    assert!(text.contains("n00") && text.contains("FENCE"), "{text}");
    terminal.press("\u{1b}[F");
    let text = terminal.wait_for_text("9-12 of 12");
    assert!(text.contains("n11") && !text.contains("n00"), "{text}");
    terminal.press("k");
    terminal.wait_for_text("8-11 of 12");
    terminal.resize((9, 60));
    let text = terminal.wait_for_text("7-12 of 12");
    assert!(text.contains("ENDS IN") && !text.contains("FENCE"), "{text}");
    terminal.press("q");
    assert_ended(terminal, 0);
}

#[tokio::test]
async fn without_a_terminal_it_prints_a_line_for_each_look_if_it_is_to() {
    let kept = Kept::in_sqlite().await;
    let leases = kept.connect().await;
    let mut command = command(&kept.url(), &["--json", "--every", "100ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut next = || lines.next().expect("there are more").expect("UTF-8");
    assert_eq!(next(), r#"{"keys":[]}"#);
    let lease = held(&leases, "import:42", "job-7").await;
    let said = std::iter::repeat_with(&mut next).find(|line| line.contains("job-7"));
    let mut list = crate::leases();
    let listed = Ran::to_its_end(list.args(["list", "--json", "--backend", &kept.url()]));
    let keys = |text: &str| {
        let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let holder = document["keys"][0]["holders"][0].clone();
        (document["keys"][0]["name"].clone(), holder["owner"].clone(), holder["fence"].clone())
    };
    assert_eq!(said.map(|said| keys(&said)), Some(keys(&listed.out)));
    drop(lines);
    assert_eq!(child.wait().expect("it is ours").code(), Some(0), "nobody reads it any more");
    drop(lease);
}

#[tokio::test]
async fn what_it_can_not_do_is_refused() {
    let kept = Kept::in_sqlite().await;
    let refused = |args: &[&str], status, why| {
        Ran::to_its_end(&mut command(&kept.url(), args)).refused(status, why);
    };
    refused(&[], 64, "no terminal: `leases list` prints once");
    refused(&["--every", "99ms"], 64, "100ms or more");
    refused(&["--every", "often"], 64, "100ms or more");
    let redis = Redis::start().await;
    redis.kill_9();
    Ran::to_its_end(&mut command(&redis.url(), &["--json"])).refused(69, "not reached");
}
