//! `leases completions`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to complete what is typed.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints what the shell has to read.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    // It panics where it can't write, as to standard output it may not be able to.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "leases", &mut script);
    std::io::stdout().write_all(&script).map_err(Failure::output)?;
    Ok(ExitCode::SUCCESS)
}
