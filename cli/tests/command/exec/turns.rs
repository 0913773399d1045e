//! Many commands on one name.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;

use super::Place;
use crate::kept::Kept;

/// So many commands at once, each of which writes when it begins and when it ends.
fn commands(place: &Place, count: usize, args: &[&str]) {
    let script = "echo + >> turns; sleep 0.02; echo - >> turns";
    let start = || place.exec("turns", args, script).spawn().expect("it runs");
    let running: Vec<Child> = (0..count).map(|_| start()).collect();
    for mut one in running {
        assert_eq!(one.wait().expect("it is ours").code(), Some(0));
    }
}

/// How many have run at once, at most; each that began has ended.
fn at_once(place: &Place, count: usize) -> i32 {
    let turns = place.read("turns");
    let (mut running, mut most) = (0, 0);
    for line in turns.lines() {
        running += if line == "+" { 1 } else { -1 };
        assert!(running >= 0, "{turns}");
        most = most.max(running);
    }
    assert_eq!((running, turns.lines().count()), (0, 2 * count));
    most
}

fn take_turns(place: &Place) {
    commands(place, 20, &["--wait", "5m"]);
    assert_eq!(at_once(place, 20), 1);
}

fn are_three_at_most(place: &Place) {
    commands(place, 20, &["--wait", "5m", "--limit", "3"]);
    let most = at_once(place, 20);
    assert!((2..=3).contains(&most), "{most}");
}

/// Twenty on a machine where nothing was set up: each makes the file and its tables, or finds them.
#[test]
fn twenty_commands_take_turns_in_a_file_that_none_has_made() {
    let place = Place::of_the_user();
    take_turns(&place);
    let mode = |name: &str| {
        let made = std::fs::metadata(place.path(name)).expect("it is there");
        made.permissions().mode() & 0o777
    };
    assert_eq!(mode("state/leases"), 0o700);
    assert_eq!(mode("state/leases/leases.db"), 0o600);
}

/// What SQLite writes beside the file is this user's alone too.
#[test]
fn the_files_beside_the_users_own_are_its_alone() {
    let place = Place::of_the_user();
    let script = "stat -c %a state/leases/* > modes";
    assert_eq!(place.exec("a", &[], script).status().expect("it runs").code(), Some(0));
    let modes = place.read("modes");
    assert!(modes.lines().count() >= 2, "{modes}");
    assert!(modes.lines().all(|mode| mode == "600"), "{modes}");
}

#[tokio::test]
async fn twenty_commands_take_turns_over_redis() {
    take_turns(&Place::on(Kept::in_redis().await));
}

#[tokio::test]
async fn twenty_commands_take_turns_over_postgres() {
    take_turns(&Place::on(Kept::in_postgres().await));
}

#[tokio::test]
async fn twenty_commands_take_turns_over_mariadb() {
    take_turns(&Place::on(Kept::in_mariadb().await));
}

#[test]
fn of_twenty_commands_three_run_at_once() {
    are_three_at_most(&Place::of_the_user());
}

#[tokio::test]
async fn of_twenty_commands_three_run_at_once_over_redis() {
    are_three_at_most(&Place::on(Kept::in_redis().await));
}
