//! What being measured adds to an acquire and its release on memory.

use anyhow::Result;
use leases::Leases;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::runtime::Builder;

use crate::native::pairs;
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::interleave;

const ROUNDS: usize = 300;

pub(crate) fn run() -> Result<Report> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let recorder = PrometheusBuilder::new().set_buckets(&[0.001, 0.01, 0.1, 1.0, 10.0])?;
    let recorder = recorder.build_recorder();
    let unheard = Leases::memory();
    let measured = metrics::with_local_recorder(&recorder, Leases::memory);
    let upkeep = recorder.handle();
    let [without, with] = interleave(
        ROUNDS,
        [
            Box::new(|| pairs(&runtime, &unheard)),
            Box::new(|| {
                upkeep.run_upkeep(); // As an exporter does: what was recorded does not pile up.
                pairs(&runtime, &measured)
            }),
        ],
    )?;
    let mut report =
        Report::new("measured", format!("on memory, built with metrics; {ROUNDS} rounds"));
    report.add(Figure::of("acquire + release, no recorder", Unit::Ns, &without));
    let last = Figure::of("the same, Prometheus' recorder", Unit::Ns, &with);
    report.add(last.beside("no recorder", &with, &without).goal(Goal::RatioAtMost(1.25)));
    Ok(report)
}
