//! Guests that end, or are ended, while they hold, wait or refresh.

use crate::host::Computes;
use crate::stage::{Guest, on_every_backend};

/// Case P3.
#[tokio::test]
pub(crate) async fn hostile_trap_holding() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_trap_holding")).await.trapped("holds", "unreachable");
    })
    .await;
}

/// Case P3.
#[tokio::test]
pub(crate) async fn hostile_trap_waiting() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_trap_waiting");
        stage.run(guest.clone()).await.trapped("waits", "out of bounds");
        stage.run(guest.stopped_after("waits")).await.stopped("waits");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_wait_for_ever() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_wait_for_ever").stopped_after("waits");
        stage.run(guest).await.stopped("waits");
    })
    .await;
}

/// Case P3.
#[tokio::test]
pub(crate) async fn hostile_trap_refreshing() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_trap_refreshing");
        stage.run(guest).await.trapped("holds", "out of bounds");
    })
    .await;
}

/// Its call is dropped, or it is stopped by an epoch: either way what it holds is gone at once.
#[tokio::test]
pub(crate) async fn hostile_spin_holding() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_spin_holding");
        stage.run(guest.clone().stopped_after("holds")).await.stopped("holds");
        stage.run(guest.computes(Computes::For(100))).await.trapped("holds", "interrupt");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_keep_alive_forgotten() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_keep_alive_forgotten");
        stage.run(guest.clone().stopped_after("holds")).await.stopped("holds");
        stage.run(guest.computes(Computes::For(100))).await.trapped("holds", "interrupt");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_memory_bomb_holding() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_memory_bomb_holding").memory(32 << 20);
        stage.run(guest).await.trapped("holds", "unreachable");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_grow_holding() {
    on_every_backend(async |stage| {
        let says = "holds, and has all the memory there is";
        let guest = Guest::named("hostile_grow_holding").stopped_after(says);
        stage.run(guest).await.stopped(says);
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_exit_holding() {
    on_every_backend(async |stage| {
        for (status, seen_as) in [(0, 0), (1, 1), (3, 1)] {
            let guest = Guest::named("hostile_exit_holding").args([status]);
            stage.run(guest).await.exited_with(seen_as, "holds");
        }
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_return_holding() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_return_holding")).await.exited("holds");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_panic_holding() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_panic_holding")).await.trapped("holds", "unreachable");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_stack_overflow_holding() {
    on_every_backend(async |stage| {
        let guest = Guest::named("hostile_stack_overflow_holding");
        stage.run(guest).await.trapped("holds", "wasm trap");
    })
    .await;
}
