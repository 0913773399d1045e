//! Guests that mean to use what is another's.

use leases::Grant;

use crate::stage::{Guest, bounds, on_every_backend, on_every_backend_by, pattern, prefix};

#[tokio::test]
pub(crate) async fn hostile_escaping_names() {
    let everything = Grant::new(pattern("*")).prefix(prefix());
    let policy = bounds().grant(everything).build().expect("a policy");
    on_every_backend_by(&policy, async |stage| {
        stage.run(Guest::named("hostile_escaping_names")).await.exited("stayed inside");
    })
    .await;
}

/// Case P9.
#[tokio::test]
pub(crate) async fn hostile_ungranted_names() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_ungranted_names")).await.exited("denied");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_foreign_owners() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_foreign_owners")).await.exited("refused");
    })
    .await;
}
