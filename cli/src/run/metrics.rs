//! Serving measures to Prometheus.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tracing::Level;

use crate::failure::Failure;
use crate::log;

/// The text format, as its readers ask for it.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How often what was recorded is put into its buckets where nobody asks.
const UPKEEP: Duration = Duration::from_secs(5);

/// In seconds: from a round trip on one machine to the longest that people wait.
const DURATIONS: [f64; 18] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0, 60.0,
];

/// How long names are held: to a day.
const HOLDS: [f64; 12] =
    [0.01, 0.1, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 43200.0, 86400.0];

/// Places in a line, and sizes of batches: to the most that there are.
const COUNTS: [f64; 14] =
    [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0];

/// Takes the measures of whatever is built from now on, and serves them until the command ends.
pub(super) async fn serve(address: SocketAddr) -> Result<(), Failure> {
    let named = |why: &dyn std::fmt::Display| Failure::usage(format_args!("--metrics: {why}"));
    let listener = TcpListener::bind(address).await.map_err(|error| named(&error))?;
    let bound = listener.local_addr().map_err(|error| named(&error))?;
    let taken = recorder().map_err(|error| named(&error))?;
    let served = taken.clone();
    let metrics = move || async move { ([(CONTENT_TYPE, TEXT)], served.render()) };
    let router = Router::new().route("/metrics", get(metrics));
    tokio::spawn(async move { axum::serve(listener, router).await });
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            taken.run_upkeep();
        }
    });
    log::say(Level::INFO, &format!("metrics at http://{bound}/metrics"));
    Ok(())
}

fn recorder() -> Result<PrometheusHandle, BuildError> {
    PrometheusBuilder::new()
        .with_recommended_naming(true)
        .set_buckets(&DURATIONS)?
        .set_buckets_for_metric(Matcher::Prefix("leases.hold.".to_owned()), &HOLDS)?
        .set_buckets_for_metric(Matcher::Prefix("leases.line.".to_owned()), &COUNTS)?
        .set_buckets_for_metric(Matcher::Prefix("leases.refresh.".to_owned()), &COUNTS)?
        .install_recorder()
}
