//! `cargo xtask demo`: plugin instances that share the import of the repository's tables.

mod crash;
mod event;
mod plugin;
mod progress;
mod receipts;
mod tables;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::workspace;
use event::Event;
use plugin::{Ended, Plugin, Run};
use progress::Progress;
use tables::Table;

/// How the demo runs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Makes one instance trap in the middle of a table, and verifies that another takes it over.
    #[arg(long)]
    crash: bool,
    /// Begins with nothing imported.
    #[arg(long)]
    fresh: bool,
    /// How many instances run at once.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=64))]
    instances: u32,
}

/// Runs the demo and answers whether every table was imported exactly once.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let plugin = Plugin::build(options.instances)?;
    let tables = tables::list()?;
    if options.crash {
        crash::run(&plugin, &tables)
    } else {
        share(&plugin, &tables, options.fresh)
    }
}

fn share(plugin: &Plugin, tables: &[Table], fresh: bool) -> Result<bool> {
    let out = folder("out");
    if fresh {
        remove(&out)?;
    }
    fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
    let run = Run { out: &out, trap_in: None };
    let ended = import(plugin, tables, &run, |_| ())?;
    if ended == Ended::Failed {
        eprintln!("an instance failed");
    }
    Ok(verify(tables, &out)? && ended == Ended::Well)
}

/// Runs the instances to their end, with progress; `seen` is told each event as it comes.
fn import(
    plugin: &Plugin,
    tables: &[Table],
    run: &Run<'_>,
    mut seen: impl FnMut(&Event),
) -> Result<Ended> {
    println!("{} instances, {} tables", plugin.instances(), tables.len());
    let mut progress = Progress::new(tables);
    plugin.run(run, |event| {
        seen(event);
        if let Some(line) = progress.line(event) {
            println!("{line}");
        }
    })
}

/// Says what is wrong with each table, and last of how many nothing is.
fn verify(tables: &[Table], out: &Path) -> Result<bool> {
    let mut right = 0;
    for table in tables {
        match receipts::fault(table, out)? {
            None => right += 1,
            Some(fault) => println!("{}: {fault}", table.name),
        }
    }
    println!("exactly once: {right} of {} tables", tables.len());
    Ok(right == tables.len())
}

/// The folder of this name among the demo's.
fn folder(name: &str) -> PathBuf {
    workspace::target().join("demo").join(name)
}

/// Makes an empty folder of this name.
fn empty_folder(name: &str) -> Result<PathBuf> {
    let path = folder(name);
    remove(&path)?;
    fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
    Ok(path)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}
