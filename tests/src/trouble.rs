//! A world whose backend fails as it is told, and futures that are dropped.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use leases::{Backend, ManualClock};

use crate::ask::{Ask, lease};
use crate::faults::Faulty;
use crate::world::{Door, World, memory};

/// A world whose backend fails as it is told.
pub struct Trouble {
    /// The world.
    pub world: World,
    /// What fails.
    pub backend: Arc<Faulty>,
    /// The clock of both.
    pub time: ManualClock,
    /// Asks for a lease of a second.
    pub ask: Ask,
}

/// One without a fault yet.
pub fn trouble(door: Door) -> Trouble {
    let time = ManualClock::new();
    let backend = Arc::new(Faulty::new(Arc::new(memory(&time)), time.clock()));
    let world = World::in_process(Arc::clone(&backend) as Arc<dyn Backend>, time.clone(), door);
    Trouble { world, backend, time, ask: lease("a").ttl(Duration::from_secs(1)) }
}

/// Polls a future at most so many times, and drops it if it has not ended by then.
pub async fn cancelled_after<F: Future>(polls: u32, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut polled = 0;
    poll_fn(|context| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}
