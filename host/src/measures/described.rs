//! The names, units and descriptions of the measures. `docs/metrics.md` has them too.

use metrics::{
    Counter, Gauge, Histogram, Label, Unit, describe_counter, describe_gauge, describe_histogram,
};

/// A metric.
#[derive(Debug)]
pub(super) struct Described {
    name: &'static str,
    unit: Unit,
    what: &'static str,
}

impl Described {
    const fn new(name: &'static str, unit: Unit, what: &'static str) -> Self {
        Described { name, unit, what }
    }

    pub(super) fn counter(&self, labels: &[(&'static str, &'static str)]) -> Counter {
        metrics::counter!(self.name, of(labels))
    }

    pub(super) fn gauge(&self, labels: &[(&'static str, &'static str)]) -> Gauge {
        metrics::gauge!(self.name, of(labels))
    }

    pub(super) fn histogram(&self, labels: &[(&'static str, &'static str)]) -> Histogram {
        metrics::histogram!(self.name, of(labels))
    }
}

fn of(labels: &[(&'static str, &'static str)]) -> Vec<Label> {
    labels.iter().map(|(name, value)| Label::from_static_parts(name, value)).collect()
}

macro_rules! described {
    ($($of:ident { $($metric:ident: $name:literal, $unit:ident, $what:literal;)+ })+) => {
        $($(pub(super) const $metric: Described = Described::new($name, Unit::$unit, $what);)+)+

        /// Describes all of them to the recorder that is installed.
        pub(super) fn all() {
            $($($of!($metric.name, $metric.unit, $metric.what);)+)+
        }
    };
}

described! {
    describe_counter {
        ACQUIRES: "leases.acquires", Count, "Asks for a lease or a permit that have ended";
        ENDS: "leases.holds.ended", Count, "Holds of this process that have ended";
        BATCHES: "leases.refresh.batches", Count, "Batches of refreshes and signs of life that were sent";
        GIVE_BACKS: "leases.give_backs", Count, "Holds and asks that were dropped, given back or left to their ttl";
        VERDICTS: "leases.guard.verdicts", Count, "Answers of guards";
        ERRORS: "leases.backend.errors", Count, "Operations that the backend did not confirm";
    }
    describe_gauge {
        HOLDS: "leases.holds", Count, "Holds that this process has";
        WAITERS: "leases.waiters", Count, "Asks of this process that wait in line";
    }
    describe_histogram {
        WAITED: "leases.acquire.duration", Seconds, "From an ask to its end";
        POSITION: "leases.line.position", Count, "How many were in front of an ask that joined a line";
        HELD_FOR: "leases.hold.duration", Seconds, "From a grant to the end of the hold";
        BATCH_SIZE: "leases.refresh.batch.size", Count, "Refreshes and signs of life in a batch";
        TOOK: "leases.backend.duration", Seconds, "From a request to the backend's answer";
    }
}
