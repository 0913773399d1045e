//! A plugin that imports a folder of text tables, sharing the work with every other instance of
//! itself: each table is imported exactly once, whoever gets to it first.
//!
//! ```text
//! leases run importer.wasm --allow 'import:*' --allow 'source:*' --instances 8 \
//!     --dir tables::/tables --dir out::/out
//! ```
//!
//! It uses all three primitives: the lease `import:<table>` makes one instance responsible for a
//! table, the semaphore `source:<host>` lets two of them read from the source at once, and the
//! fence of the lease stands between a holder that has been replaced and the output.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod args;
mod event;
mod import;
mod output;
mod parse;
mod row;
mod tables;

use std::io::{self, Write};
use std::process::ExitCode;

use args::Args;

fn main() -> ExitCode {
    let done = Args::parse(std::env::args().skip(1)).and_then(|args| import::all(&args));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // As a whole: standard error has no buffer, and the instances may share it.
            let line = format!("importer: {error:#}\n");
            let _ = io::stderr().write_all(line.as_bytes());
            ExitCode::FAILURE
        }
    }
}
