//! Cases that start servers of their own, and do to them and their clients what happens to such:
//! written once, for every database that has what they need. A case's number is that of the fault
//! from the field that it replays.

mod cancelled;
mod clients;
mod clocks;
mod counted;
mod cut;
mod idle;
mod killed;
mod late;
mod lines;
pub mod names;
mod outages;
mod pools;
mod revoked;
mod rights;
mod runtimes;
mod secrets;
mod skewed;
mod stored;
mod tables;
mod wedged;

use crate::{Case, Need, On};

/// Cases of one kind.
pub struct Area {
    /// What they are about.
    pub name: &'static str,
    /// What a database has to have for them.
    pub needs: &'static [Need],
    /// The cases.
    pub cases: &'static [Case<On>],
}

impl Area {
    const fn new(name: &'static str, needs: &'static [Need], cases: &'static [Case<On>]) -> Self {
        Area { name, needs, cases }
    }
}

/// All of them.
pub const ALL: &[Area] = &[
    Area::new("cancelled", &[], cancelled::CASES),
    Area::new("clients", &[], clients::CASES),
    Area::new("clocks", &[], clocks::CASES),
    Area::new("counted", &[Need::Counts], counted::CASES),
    Area::new("cut", &[Need::Server], cut::CASES),
    Area::new("idle", &[Need::Tables], idle::CASES),
    Area::new("killed", &[], killed::CASES),
    Area::new("late", &[Need::Server], late::CASES),
    Area::new("lines", &[Need::Server, Need::Wakes], lines::CASES),
    Area::new("names", &[], names::CASES),
    Area::new("outages", &[Need::Server], outages::CASES),
    Area::new("pools", &[Need::Pools], pools::CASES),
    Area::new("revoked", &[Need::Server, Need::Wakes], revoked::CASES),
    Area::new("rights", &[Need::Tables, Need::Logins], rights::CASES),
    Area::new("runtimes", &[], runtimes::CASES),
    Area::new("secrets", &[Need::Server, Need::Logins], secrets::CASES),
    Area::new("skewed", &[Need::Server], skewed::CASES),
    Area::new("stored", &[], stored::CASES),
    Area::new("tables", &[Need::Tables], tables::CASES),
    Area::new("wedged", &[], wedged::CASES),
];
