//! Lists of what is in use.

use leases::{Kind, NamePattern};

use super::secs;
use crate::{World, lease, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    a_list_shows_who_holds_and_who_waits,
    a_list_shows_what_is_in_use_alone,
    a_list_is_of_the_names_of_its_pattern,
    a_list_of_many_shows_each_once,
];

/// What is listed: kind, name, how many hold and how many wait.
async fn used(world: &World, pattern: &str) -> Vec<(Kind, String, usize, usize)> {
    let pattern = NamePattern::new(pattern).expect("a pattern");
    let listed = world.leases().list(&pattern).await.expect("the backend answers");
    let one = |listed: leases::Listed| {
        let (holders, waiters) = (listed.view.holders.len(), listed.view.waiters.len());
        (listed.key.kind, listed.key.name.as_str().to_owned(), holders, waiters)
    };
    listed.into_iter().map(one).collect()
}

async fn a_list_shows_who_holds_and_who_waits(world: World) {
    let name = world.name("a");
    let held = world.actor().await.take(lease(&name).owner("me").note("busy")).await;
    let ask = semaphore(&name, 1);
    let permit = world.actor().await.take(ask.clone()).await;
    let waiting = world.in_line(&ask.clone().waiting()).await;
    let pattern = NamePattern::new(&name).expect("a pattern");
    let listed = world.leases().list(&pattern).await.expect("the backend answers");
    let [lease_, semaphore_] = &*listed else { panic!("both kinds: {listed:?}") };
    assert_eq!(lease_.view.holders[0].fence.as_u64(), held.fence().await);
    assert!(lease_.view.holders[0].owner.as_ref().unwrap().as_str().ends_with("me"));
    assert_eq!(lease_.view.holders[0].note.as_ref().unwrap().as_str(), "busy");
    assert_eq!(semaphore_.view, world.view(&ask).await);
    assert_eq!(semaphore_.view.waiters.len(), 1);
    waiting.cancel().await;
    drop((held, permit));
}

/// Neither what was released, nor what has expired since, nor what was never granted.
async fn a_list_shows_what_is_in_use_alone(world: World) {
    let [released, expired, never] = ["r", "e", "n"].map(|name| world.name(name));
    let one = world.actor().await.take(lease(&released)).await;
    assert_eq!(one.release().await, Ok(true));
    for ask in [lease(&expired).ttl(secs(1)), semaphore(&expired, 3).ttl(secs(1))] {
        let held = world.actor().await.take(ask.clone()).await;
        assert_eq!(used(&world, &expired).await.len(), 1);
        world.pass_slowly(secs(1)).await;
        assert_eq!(used(&world, &expired).await, []);
        drop(held);
    }
    for name in [released, never] {
        assert_eq!(used(&world, &name).await, []);
        assert_eq!(used(&world, &format!("{name}*")).await, []);
    }
    assert_eq!(used(&world, "*").await, []);
}

/// Whatever the names are made of; in order of their bytes, a lease before a semaphore.
async fn a_list_is_of_the_names_of_its_pattern(world: World) {
    let base = world.name("odd");
    let tails = [
        "",
        " ",
        "%",
        "%7D",
        "A",
        "[x]",
        "_",
        "a",
        "a\\",
        "a]",
        "a^",
        "b?",
        "{x",
        "{x}",
        "{x}:line",
        "}",
        "\u{e9}",
        "\u{10ffff}",
    ];
    let others = [base.to_uppercase(), base[..base.len() - 1].to_owned(), format!("x{base}")];
    let names: Vec<String> = tails.iter().map(|tail| format!("{base}{tail}")).collect();
    let mut held = Vec::new();
    for name in names.iter().chain(&others) {
        held.push(world.actor().await.take(semaphore(name, 2)).await);
        held.push(world.actor().await.take(lease(name)).await);
    }
    let expected = |names: &[String]| {
        let kinds = [Kind::Lease, Kind::Semaphore];
        let of = |name: &String| kinds.map(|kind| (kind, name.clone(), 1, 0));
        names.iter().flat_map(of).collect::<Vec<_>>()
    };
    assert_eq!(used(&world, &format!("{base}*")).await, expected(&names));
    for name in &names {
        let behind: Vec<_> =
            names.iter().filter(|other| other.starts_with(name)).cloned().collect();
        assert_eq!(used(&world, &format!("{name}*")).await, expected(&behind), "{name:?}*");
        assert_eq!(used(&world, name).await, expected(std::slice::from_ref(name)), "{name:?}");
    }
    assert_eq!(used(&world, "*").await.len(), 2 * (names.len() + others.len()));
}

/// More than one page of any backend.
async fn a_list_of_many_shows_each_once(world: World) {
    let leases = world.leases();
    let mut held = Vec::new();
    for number in 0..2100 {
        held.push(leases.lease(format!("many-{number:04}")).unwrap().acquire().await.unwrap());
    }
    let mut listed = used(&world, "many-*").await;
    assert_eq!(listed.len(), held.len());
    assert!(listed.is_sorted_by(|one, next| one.1 < next.1), "in order, each once");
    for mut lease in held.drain(100..) {
        assert!(lease.release().await.unwrap());
    }
    listed = used(&world, "many-*").await;
    assert_eq!(listed.len(), 100);
}
