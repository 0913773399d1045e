//! A world whose backend fails as it is told.

use std::sync::Arc;
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
