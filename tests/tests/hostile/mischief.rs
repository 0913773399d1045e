//! Guests whose pointers, texts and allocators are not what they should be.

use crate::stage::{Guest, on_every_backend};

/// Case P4: 100 MB where a text belongs are refused before the host has a byte of them.
#[tokio::test]
pub(crate) async fn hostile_names_of_100_mb() {
    on_every_backend(async |stage| {
        for text in ["name", "owner", "note", "target"] {
            // Memory that the guest never touches: nothing of it is resident.
            let guest = Guest::named("hostile_names_of_100_mb").args([text]).memory(128 << 20);
            let seen = stage.run(guest).await;
            assert!(seen.growth.resident < 16 << 20, "{seen:#?}");
            seen.trapped("held", "fuel allocated for hostcalls has been exhausted");
        }
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_long_texts() {
    on_every_backend(async |stage| {
        stage.run(Guest::named("hostile_long_texts")).await.exited("refused");
    })
    .await;
}

/// Case P1, of a grant that its guest has no room for: it is there when the guest traps.
#[tokio::test]
pub(crate) async fn hostile_answer_out_of_bounds() {
    on_every_backend(async |stage| {
        for (address, why) in [
            (u32::MAX - 15, "out of bounds"),
            (u32::MAX - 3, "out of bounds"),
            (1 << 31, "out of bounds"),
            (1025, "not aligned"),
            (u32::MAX, "not aligned"),
        ] {
            let guest = Guest::named("hostile_answer_out_of_bounds").args([address]);
            stage.run(guest).await.trapped("holds", why);
        }
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_text_out_of_bounds() {
    on_every_backend(async |stage| {
        for text in ["name", "owner", "note"] {
            for (which, why) in [
                ("beyond", "out of bounds"),
                ("across", "out of bounds"),
                ("around", "out of bounds"),
                ("longest", "out of bounds"),
                ("negative", "out of bounds"),
                ("cut", "utf-8"),
                ("overlong", "utf-8"),
                ("surrogate", "utf-8"),
            ] {
                let guest = Guest::named("hostile_text_out_of_bounds").args([text, which]);
                stage.run(guest).await.trapped("holds", why);
            }
        }
    })
    .await;
}

#[tokio::test]
pub(crate) async fn hostile_realloc() {
    on_every_backend(async |stage| {
        for text in ["name", "error"] {
            for (way, why) in [
                ("trap", "unreachable"),
                ("beyond", "beyond end of memory"),
                ("reenter", "cannot leave component instance"),
            ] {
                let guest = Guest::named("hostile_realloc").args([way, text]);
                stage.run(guest).await.trapped("holds", why);
            }
        }
    })
    .await;
}
