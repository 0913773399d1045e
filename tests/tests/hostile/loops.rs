//! Guests that do something for ever, or a million times.

use leases::{Grant, Rate};

use crate::heap;
use crate::stage::{Guest, on_every_backend, on_every_backend_by, pattern, policy, prefix};

/// Case P4: a guest that loops acquire is refused, and its host's memory stays flat.
#[tokio::test]
pub(crate) async fn hostile_acquire_loop() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_acquire_loop").stopped_after("refused");
        stage.run(guest).await.stopped("refused");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_acquire_drop_loop() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_acquire_drop_loop").stopped_after("refused");
        stage.run(guest).await.stopped("refused");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_refresh_loop() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_refresh_loop").stopped_after("refused");
        stage.run(guest).await.stopped("refused");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_fence_loop() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_fence_loop").stopped_after("refused");
        stage.run(guest).await.stopped("refused");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_same_owner_loop() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_same_owner_loop")).await.exited("refused");
    })
    .await;
}

/// Case P4: a guest that opens a million handles. Where its policy lets it, it is stopped at the
/// bound on handles, when the grant after that is there already and finds no room.
#[tokio::test]
pub(crate) async fn hostile_million_handles() {
    let policy = policy().held(1_000_000).acquires(Rate::UNLIMITED).build().expect("a policy");
    on_every_backend_by(&policy, async |stage| {
        // 10,000 holds, and the keys that backend and test remember.
        let guest = Guest::named("hostile_million_handles").allocated_max(32 << 20);
        stage.run(guest).await.trapped("9000 are open", "resource table");
    })
    .await;
}

/// As many instances as there are: all of them are one plugin.
#[tokio::test]
pub(crate) async fn hostile_line_flood() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_line_flood").stopped_after("goes on");
        let seen = stage.run_all(vec![guest; 10]).await;
        let who = |said| seen.iter().filter(|seen| seen.said.starts_with(said)).count();
        assert!(who("waited") > 0 && who("refused") > 0, "{seen:#?}");
        seen.into_iter().for_each(|seen| seen.stopped("goes on"));
    })
    .await;
}

/// Two instances, each of which waits for what the other one holds: the host's bound ends it.
#[tokio::test]
pub(crate) async fn hostile_deadlock() {
    on_every_backend(async |stage| {
        let one = Guest::named("hostile_deadlock").args(["own/a", "own/b"]);
        let other = Guest::named("hostile_deadlock").args(["own/b", "own/a"]);
        let seen = stage.run_all([one, other]).await;
        assert!(seen.iter().any(|seen| seen.said.contains("gave up")), "{seen:#?}");
    })
    .await;
}

/// What is granted to nobody stays nobody's, however often it is asked for.
#[tokio::test]
pub(crate) async fn hostile_greatest_numbers() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_greatest_numbers")).await.exited("refused");
    })
    .await;
}

/// The same guest where it may do everything but be unbounded.
#[tokio::test]
async fn the_bounds_of_every_program_hold_for_a_plugin_without_bounds_of_its_own() {
    let own = Grant::new(pattern("own/*")).prefix(prefix());
    let policy = leases::Policy::builder().grant(own).build().expect("a policy");
    on_every_backend_by(&policy, async |stage| {
        stage.run(Guest::named("hostile_odd_drops")).await.exited("dropped");
        stage.run(Guest::named("hostile_long_texts")).await.exited("refused");
    })
    .await;
}

/// Case P4, over time: of a guest that is gone the host keeps nothing, however many have come and
/// gone. What it allocates less and more from one to the next, buffers of the runtime, the kernel's
/// answers, is far less than one of them.
#[tokio::test]
async fn p4_of_guests_that_are_gone_the_host_keeps_nothing() {
    on_every_backend(async |stage| {
        let guests = async || {
            for name in ["hostile_trap_holding", "hostile_odd_drops"] {
                drop(stage.run(Guest::named(name)).await);
            }
        };
        for _ in 0..3 {
            guests().await;
        }
        let before = heap::in_use();
        for _ in 0..30 {
            guests().await;
        }
        let grown = heap::in_use() - before;
        assert!(grown < 64 << 10, "{grown} bytes more are allocated than before");
    })
    .await;
}
