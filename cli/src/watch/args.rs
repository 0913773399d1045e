//! What can be typed.

use std::time::Duration;

use leases::NamePattern;

use super::looks::EVERY_MIN;
use crate::looking::parse_pattern;
use crate::typed::{self, Typed};

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// Which names: one name, or a prefix that ends in *. A shell needs quotes around the *.
    #[arg(value_name = "PATTERN", default_value = "*", value_parser = parse_pattern)]
    pub(crate) names: NamePattern,

    /// How often it looks: 100ms or more, as 500ms, 30s, 5m or 1h. Each look costs the backend what
    /// `leases list` does.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_every)]
    pub(crate) every: Typed<Duration>,

    /// Print one JSON document for each look, on a line of standard output; no full screen.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_every(text: &str) -> Result<Typed<Duration>, String> {
    let every = typed::duration(text).ok().filter(|every| every.value >= EVERY_MIN);
    every.ok_or_else(|| "100ms or more, as 500ms, 30s, 5m or 1h".to_owned())
}
