//! What memory forgets, and what it does not.

use std::sync::Arc;
use std::time::Duration;

use leases::{Leases, ManualClock, MemoryBackend, MemoryConfig, Verdict};
use leases_tests::world::take_turns;

const SECOND: Duration = Duration::from_secs(1);

struct Memory {
    backend: MemoryBackend,
    leases: Leases,
    time: ManualClock,
}

impl Memory {
    fn remembering_for(retention: Duration) -> Self {
        let time = ManualClock::new();
        let backend = MemoryBackend::new(MemoryConfig { clock: time.clock(), retention });
        let leases = Leases::builder(Arc::new(backend.clone())).clock(time.clock()).build();
        Memory { backend, leases, time }
    }

    /// Lets every shard be tidied: operations on enough other names.
    async fn tidy(&self) {
        for number in 0..2000 {
            drop(self.leases.lease(format!("other:{number}")).unwrap().acquire().await.unwrap());
        }
    }
}

/// Also where the clock stood still since the last grant, and nothing is kept for any time.
#[tokio::test]
async fn fences_grow_over_a_name_that_was_forgotten() {
    let memory = Memory::remembering_for(Duration::ZERO);
    let mut last = None;
    for _ in 0..10 {
        let mut held = memory.leases.lease("a").unwrap().acquire().await.unwrap();
        assert!(Some(held.fence()) > last);
        last = Some(held.fence());
        assert!(held.release().await.unwrap());
    }
    memory.time.advance(SECOND);
    memory.tidy().await;
    memory.time.advance(SECOND);
    memory.tidy().await;
    assert!(memory.backend.remembered() < 2100, "what is idle is forgotten");
    let again = memory.leases.lease("a").unwrap().acquire().await.unwrap();
    assert!(Some(again.fence()) > last);
}

#[tokio::test]
async fn what_is_held_or_waited_for_is_not_forgotten() {
    let memory = Memory::remembering_for(SECOND);
    let request = memory.leases.lease("a").unwrap().ttl(60 * SECOND).wait(60 * SECOND);
    let mut held = request.acquire().await.unwrap();
    let waiting = request.clone();
    let waiter = tokio::spawn(async move { waiting.acquire().await });
    for _ in 0..20 {
        memory.time.advance(SECOND / 2);
        take_turns().await;
        memory.tidy().await;
    }
    assert!(request.try_acquire().await.unwrap().is_none());
    let fence = held.fence();
    assert!(held.release().await.unwrap());
    let next = tokio::time::timeout(20 * SECOND, waiter).await.expect("it is woken");
    let mut next = next.unwrap().unwrap();
    assert!(next.fence() > fence);
    assert!(next.release().await.unwrap());
    memory.time.advance(2 * SECOND);
    memory.tidy().await;
    memory.time.advance(2 * SECOND);
    memory.tidy().await;
    memory.tidy().await;
    assert!(memory.backend.remembered() <= 2000, "and then it is");
}

#[tokio::test]
async fn a_guard_remembers_for_as_long_as_it_says() {
    let memory = Memory::remembering_for(10 * SECOND);
    let guard = memory.leases.guard("table").unwrap();
    let fence = |number| leases::Fence::new(number).unwrap();
    assert_eq!(guard.admit(fence(5)).await.unwrap(), Verdict::Admitted);
    memory.time.advance(9 * SECOND);
    memory.tidy().await;
    assert_eq!(guard.admit(fence(5)).await.unwrap(), Verdict::Admitted, "the same writer again");
    memory.time.advance(9 * SECOND);
    memory.tidy().await;
    assert_eq!(guard.admit(fence(4)).await.unwrap(), Verdict::Stale(fence(5)));
    assert_eq!(guard.current().await.unwrap(), Some(fence(5)));
    memory.time.advance(SECOND);
    memory.tidy().await;
    memory.tidy().await;
    assert_eq!(guard.current().await.unwrap(), None, "a refusal does not lengthen it");
}
