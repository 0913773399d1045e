//! Who holds and who waits, live: `leases watch`.
//!
//! [`looks`] asks the backend again and again. What it is answered goes to [`lines`], which prints
//! it, or into the [`view`], which [`frame`] lays out and [`live`] keeps on the [`screen`].

mod args;
mod columns;
mod frame;
mod keys;
mod lines;
mod live;
mod looks;
mod screen;
mod signals;
#[cfg(test)]
mod test_rows;
mod view;

pub(crate) use args::WatchArgs;
pub(crate) use screen::log_writer;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use crate::backend::{self, BackendUrl};
use crate::failure::Failure;
use crate::looking::shown;
use looks::Looks;
use view::View;

/// Shows who holds and who waits until it is told to end.
pub(crate) async fn watch(args: WatchArgs, url: Option<&BackendUrl>) -> Result<ExitCode, Failure> {
    if !args.json && !std::io::stdout().is_terminal() {
        let hint = "`leases list` prints once, `leases watch --json` a line for each look";
        return Err(Failure::usage(format_args!("standard output is no terminal: {hint}")));
    }
    let leases = backend::connect_shared(url).await?;
    let of = of(shown(&args.names.to_string()), backend::kind(url));
    let mut looks = Looks::start(leases, args.names, args.every.value);
    // Before there is anything to show, it fails as `leases list` does.
    let first = looks.next().await.ok_or_else(Failure::panicked)?;
    if let Err(why) = &first.answer {
        return Err(Failure::unavailable(why));
    }
    match args.json {
        true => lines::print(first, looks).await,
        false => live::show(View::new(of, first), looks).await,
    }
}

/// What is looked at: `import:* in redis`.
fn of(names: String, backend: Option<String>) -> String {
    backend.map(|backend| format!("{names} in {backend}")).unwrap_or(names)
}
