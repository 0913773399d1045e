//! Guests that misuse handles.

use crate::stage::{Guest, on_every_backend};

/// Case P6.
#[tokio::test]
pub(crate) async fn hostile_odd_drops() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_odd_drops")).await.exited("dropped");
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_dropped_twice() {
    on_every_backend(async |stage| {
        for way in [
            "release-release",
            "release-drop",
            "drop-drop",
            "drop-release",
            "drop-refresh",
            "drop-look",
            "release-refresh",
        ] {
            let guest = Guest::named("hostile_dropped_twice").args([way]);
            stage.run(guest).await.trapped("once", "handle");
        }
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_forged_handles() {
    on_every_backend(async |stage| {
        for kind in ["lease", "permit"] {
            for way in ["release", "drop", "refresh", "look"] {
                for number in ["0", "7777", "10001", "268435455", "2147483648", "4294967295"] {
                    let guest = Guest::named("hostile_forged_handles").args([kind, way, number]);
                    stage.run(guest).await.trapped("holds", "handle");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_permit_as_lease() {
    on_every_backend(async |stage| {
        for kind in ["permit", "lease"] {
            for way in ["release", "drop", "look"] {
                let args = [format!("{kind}-{way}")];
                let guest = Guest::named("hostile_permit_as_lease").args(args);
                stage.run(guest).await.trapped("holds", "handle");
            }
        }
    })
    .await;
}
