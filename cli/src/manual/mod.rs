//! `leases man`.

mod page;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory as _;
use page::Page;

use crate::args::Cli;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// A folder that is there, for the pages of all commands: leases.1, leases-run.1 and so on.
    /// Without it the page of `leases` itself goes to standard output.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the manual's first page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    match &args.dir {
        Some(dir) => {
            for page in pages() {
                write(dir, &page)?;
            }
        }
        None => {
            let first = pages().into_iter().take(1);
            let text: String = first.map(|page| page.text).collect();
            std::io::stdout().write_all(text.as_bytes()).map_err(Failure::output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of the command, and one for each of its subcommands.
fn pages() -> Vec<Page> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = vec![Page::of(&command)];
    pages.extend(command.get_subcommands().map(Page::of));
    pages
}

fn write(dir: &Path, page: &Page) -> Result<(), Failure> {
    let path = dir.join(&page.file);
    let failed = |error| Failure::usage(format_args!("{}: {error}", path.display()));
    fs::write(&path, &page.text).map_err(failed)
}

#[cfg(test)]
mod tests;
