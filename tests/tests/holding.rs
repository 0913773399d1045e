//! Holding while the backend fails: cases H1 to H12 that need no server, through both doors.

use std::sync::Arc;
use std::time::Duration;

use leases::{Backend, Loss, ManualClock};
use leases_tests::faults::Fault;
use leases_tests::trouble::{Trouble, trouble};
use leases_tests::world::{acquiring, memory};
use leases_tests::{Door, Failure, World, lease, wasm};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// Runs a case natively and through a guest, one test each.
macro_rules! through_both_doors {
    ($($(#[$meta:meta])* $name:ident;)+) => {
        $(mod $name {
            use super::*;

            #[tokio::test]
            async fn native() {
                super::$name(trouble(Door::Native)).await;
            }

            #[tokio::test]
            async fn wasm() {
                super::$name(trouble(Door::Wasm(wasm::Program::load()))).await;
            }
        })+
    };
}

through_both_doors! {
    h2_a_refresh_of_what_was_flushed_is_lost;
    h3_the_next_hold_of_a_name_is_kept_after_a_lost_one;
    h5_one_transient_error_gives_up_nothing;
    h5_a_lost_reply_gives_up_nothing;
    h5_what_fails_at_once_is_tried_again_after_pauses;
    h6_the_deadline_fires_with_the_backend_black_holed;
    h7_a_loss_has_its_reason;
    h8_a_release_that_failed_is_made_good;
    h10_the_backends_clock_alone_decides;
    a_reply_later_than_the_ttl_is_no_hold;
    a_refresh_whose_reply_is_later_than_the_ttl_is_lost;
    a_hung_refresh_holds_up_no_other;
    a_refresh_by_hand_never_outlives_the_backends_end;
}

/// Case H2: the key is removed in the backend; extending it does not write it anew.
async fn h2_a_refresh_of_what_was_flushed_is_lost(t: Trouble) {
    let mut held = t.world.actor().await.take(t.ask.clone()).await;
    t.backend.flush(Arc::new(memory(&t.time)));
    assert_eq!(held.refresh().await, Err(Failure::Lost(Loss::Expired)));
    t.world.until_free(&t.ask).await;
    let kept = t.world.actor().await.take(t.ask.clone().kept()).await;
    let fence = kept.fence().await;
    t.backend.flush(Arc::new(memory(&t.time)));
    t.world.pass_slowly(SECOND / 2).await;
    assert_eq!(kept.look().await.lost, Some(Loss::Expired));
    let next = t.world.actor().await.take(t.ask.clone()).await;
    assert!(next.fence().await > fence, "fences rise over a flush");
}

/// Case H3: the connection is cut during a keep-alive and the hold expires; the next hold of the
/// name is kept alive like any other.
async fn h3_the_next_hold_of_a_name_is_kept_after_a_lost_one(t: Trouble) {
    let ask = t.ask.clone().kept();
    let actor = t.world.actor().await;
    let lost = actor.take(ask.clone()).await;
    t.backend.always(Fault::LoseRequest);
    t.world.pass_slowly(2 * SECOND).await;
    assert_eq!(lost.look().await.lost, Some(Loss::Unconfirmed));
    t.backend.always(Fault::None);
    let next = actor.take(ask).await;
    t.world.pass_slowly(2 * SECOND).await;
    assert_eq!(next.look().await.lost, None);
    assert_eq!(next.release().await, Ok(true));
}

/// Case H5: unknown is not lost; it is tried again until the local deadline.
async fn h5_one_transient_error_gives_up_nothing(t: Trouble) {
    for fault in [Fault::Fail, Fault::LoseRequest, Fault::Hang] {
        t.backend.always(Fault::None);
        let held = t.world.actor().await.take(t.ask.clone().kept()).await;
        t.backend.always(fault);
        t.world.pass_slowly(600 * MS).await;
        assert_eq!(held.look().await.lost, None, "{fault:?}");
        t.backend.always(Fault::None);
        t.world.pass_slowly(3 * SECOND).await;
        assert_eq!(held.look().await.lost, None, "{fault:?}");
        assert_eq!(held.release().await, Ok(true), "{fault:?}");
    }
}

async fn h5_a_lost_reply_gives_up_nothing(t: Trouble) {
    let mut held = t.world.actor().await.take(t.ask.clone()).await;
    t.backend.next(&[Fault::LoseReply, Fault::LoseRequest, Fault::Fail, Fault::None]);
    for _ in 0..3 {
        assert_eq!(held.refresh().await, Err(Failure::Unavailable));
        assert_eq!(held.look().await.lost, None);
    }
    held.refresh().await.unwrap();
    assert_eq!(held.release().await, Ok(true));
}

/// Case H5, where a failure costs no time: the pauses double, up to a sixth of the ttl.
async fn h5_what_fails_at_once_is_tried_again_after_pauses(t: Trouble) {
    let held = t.world.actor().await.take(t.ask.clone().kept()).await;
    t.backend.always(Fault::LoseReply);
    for _ in 0..150 {
        t.world.pass(5 * MS);
        t.world.settle().await;
    }
    // From 300 ms on at the earliest, and then after 10 ms, 20, 40, 80 and 160.
    let tried = t.backend.refreshes();
    assert!((4..=8).contains(&tried), "{tried} times");
    assert_eq!(held.look().await.lost, None);
    t.backend.always(Fault::None);
    assert_eq!(held.release().await, Ok(true));
}

/// Case H6: nothing comes back at all, and yet the holder knows before the backend's own end.
async fn h6_the_deadline_fires_with_the_backend_black_holed(t: Trouble) {
    let held = t.world.actor().await.take(t.ask.clone().kept()).await;
    t.backend.always(Fault::Hang);
    t.world.pass_slowly(899 * MS).await;
    assert_eq!(held.look().await.lost, None);
    t.world.pass_slowly(MS).await;
    assert_eq!(held.look().await.lost, Some(Loss::Unconfirmed));
    assert_eq!(t.world.view(&t.ask).await.holders.len(), 1, "the backend still has it");
}

/// Case H7, each reason that a holder can be told.
async fn h7_a_loss_has_its_reason(t: Trouble) {
    let actor = t.world.actor().await;
    let ask = |name: &str| lease(name).ttl(SECOND);
    let expired = actor.take(ask("expired")).await;
    let unconfirmed = actor.take(ask("unconfirmed").kept()).await;
    let max_hold = actor.take(ask("max-hold").max_hold(SECOND / 2).kept()).await;
    let superseded = actor.take(ask("superseded").owner("job").kept()).await;
    let revoked = actor.take(ask("revoked").kept()).await;
    let _again = actor.take(ask("superseded").owner("job")).await;
    let key = leases_tests::world::key(&ask("revoked"));
    t.world.leases().revoke(&key, None).await.unwrap();
    t.world.pass_slowly(SECOND / 2).await;
    t.backend.always(Fault::LoseRequest);
    t.world.pass_slowly(SECOND).await;
    for (held, loss) in [
        (expired, Loss::Expired),
        (unconfirmed, Loss::Unconfirmed),
        (max_hold, Loss::MaxHold),
        (superseded, Loss::Superseded),
        (revoked, Loss::Revoked),
    ] {
        assert_eq!(held.look().await.lost, Some(loss), "{}", held.look().await.name);
    }
}

/// Case H8: whatever happens to a release, the name comes free: at once where the backend answers
/// again, at the latest with the ttl.
async fn h8_a_release_that_failed_is_made_good(t: Trouble) {
    for fault in [Fault::Fail, Fault::LoseRequest, Fault::LoseReply] {
        let held = t.world.actor().await.take(t.ask.clone()).await;
        t.backend.next(&[fault, Fault::None]);
        assert_eq!(held.release().await, Err(Failure::Unavailable), "{fault:?}");
        t.world.until_free(&t.ask).await;
    }
    let held = t.world.actor().await.take(t.ask.clone()).await;
    t.backend.always(Fault::Hang);
    let released = tokio::time::timeout(20 * MS, held.release()).await;
    assert!(released.is_err(), "nothing answers");
    t.world.pass(SECOND);
    t.world.until_free(&t.ask).await;
}

/// Case H10: a client whose clock is an hour ahead takes nothing early.
async fn h10_the_backends_clock_alone_decides(t: Trouble) {
    let _held = t.world.actor().await.take(t.ask.clone()).await;
    let ahead = ManualClock::new();
    ahead.advance(3600 * SECOND);
    let backend: Arc<dyn Backend> = Arc::clone(t.world.backend());
    let other = World::in_process(backend, ahead, Door::Native);
    assert_eq!(other.actor().await.refused(t.ask.clone()).await, Failure::NotAcquired);
    t.world.pass(SECOND);
    other.actor().await.take(t.ask.clone()).await;
}

/// The reply to an acquire comes when nothing is left of the hold: it is given back.
async fn a_reply_later_than_the_ttl_is_no_hold(t: Trouble) {
    t.backend.next(&[Fault::DelayReply(2 * SECOND), Fault::None]);
    let late = acquiring(&t.world.actor().await, t.ask.clone());
    t.world.settle().await;
    t.world.pass_slowly(2 * SECOND).await;
    assert_eq!(late.end().await.err(), Some(Failure::NotAcquired));
    t.world.until_free(&t.ask).await;
    t.backend.next(&[Fault::DelayReply(2 * SECOND), Fault::None]);
    let retried = acquiring(&t.world.actor().await, t.ask.clone().waiting());
    t.world.settle().await;
    t.world.pass_slowly(2 * SECOND).await;
    assert_eq!(retried.held().await.look().await.remaining, 900 * MS);
}

async fn a_refresh_whose_reply_is_later_than_the_ttl_is_lost(t: Trouble) {
    let mut held = t.world.actor().await.take(t.ask.clone()).await;
    t.backend.next(&[Fault::DelayReply(2 * SECOND), Fault::None]);
    let refresh = tokio::spawn(async move { (held.refresh().await, held) });
    t.world.settle().await;
    t.world.pass_slowly(2 * SECOND).await;
    let (refreshed, held) = refresh.await.unwrap();
    assert_eq!(refreshed, Err(Failure::Lost(Loss::Unconfirmed)));
    assert_eq!(held.look().await.lost, Some(Loss::Unconfirmed));
}

/// One answer that never comes is not waited for when others are due.
async fn a_hung_refresh_holds_up_no_other(t: Trouble) {
    let actor = t.world.actor().await;
    let short = actor.take(lease("short").ttl(SECOND).kept()).await;
    let long = actor.take(lease("long").ttl(10 * SECOND).kept()).await;
    for _ in 0..10 {
        t.backend.next(&[Fault::Hang, Fault::None]);
        t.world.pass_slowly(SECOND).await;
    }
    assert_eq!(short.look().await.lost, None);
    assert_eq!(long.look().await.lost, None);
}

/// The keeper's refresh is on its way when the holder refreshes by hand: the two are not mixed up,
/// whichever is answered first.
async fn a_refresh_by_hand_never_outlives_the_backends_end(t: Trouble) {
    for delay in [10, 100, 160, 300] {
        let mut held = t.world.actor().await.take(t.ask.clone().kept()).await;
        t.backend.next(&[Fault::DelayReply(delay * MS), Fault::None]);
        t.world.pass_slowly(340 * MS).await;
        let by_hand =
            tokio::spawn(async move { (held.refresh_for(Some(10 * SECOND)).await, held) });
        t.world.pass_slowly(310 * MS).await;
        let (refreshed, held) = by_hand.await.unwrap();
        assert!(refreshed.is_ok(), "{refreshed:?}");
        for _ in 0..20 {
            t.world.pass_slowly(100 * MS).await;
            let ends_in = t.world.view(&t.ask).await.holders[0].ends_in;
            let remaining = held.look().await.remaining;
            assert!(remaining <= ends_in, "{delay}: {remaining:?} of {ends_in:?}");
            assert!(remaining > Duration::ZERO, "{delay}: it is kept");
        }
        assert_eq!(held.release().await, Ok(true));
    }
}
