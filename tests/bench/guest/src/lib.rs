//! The guest that the measurements run: loops over one call each.

use std::time::Duration;

use leases_guest::{Error, Lease, Request, lease};

mod bindings {
    #![allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, clippy::all)]

    wit_bindgen::generate!({ path: "../wit", world: "bench" });

    export!(Loops with_types_in self);

    use super::Loops;
}

use bindings::exports::leases::bench::loops::Guest;
use bindings::leases::bench::things::Thing;

const TTL: Duration = Duration::from_secs(600);

struct Loops;

impl Guest for Loops {
    fn noops(times: u32) -> u64 {
        let thing = Thing::new();
        (0..times).map(|_| thing.noop()).fold(0, u64::wrapping_add)
    }

    fn noops_async(times: u32) -> u64 {
        let thing = Thing::new();
        (0..times).map(|_| thing.noop_async()).fold(0, u64::wrapping_add)
    }

    fn remainings(name: String, times: u32) -> Result<u64, String> {
        let held = request(name).acquire().map_err(text)?;
        Ok((0..times).map(|_| nanos(held.remaining())).fold(0, u64::wrapping_add))
    }

    fn pairs(name: String, times: u32) -> Result<u64, String> {
        let request = request(name);
        let mut released = 0;
        for _ in 0..times {
            released += u64::from(request.acquire().and_then(Lease::release).map_err(text)?);
        }
        Ok(released)
    }

    fn wait(name: String) -> Result<u64, String> {
        let held = request(name).wait_as_allowed().acquire().map_err(text)?;
        let fence = held.fence().as_u64();
        held.release().map_err(text)?;
        Ok(fence)
    }
}

fn request(name: String) -> Request<Lease> {
    lease(name).ttl(TTL)
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

fn text(error: Error) -> String {
    error.to_string()
}
