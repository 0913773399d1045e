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

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace;
use event::Event;
use plugin::{Ended, Plugin, Processes, Run};
use progress::Progress;
use tables::Table;

/// How the demo runs.
#[derive(Args)]
pub(crate) struct Options {
    /// Makes one instance trap in the middle of a table, and verifies that another takes it over.
    #[arg(long)]
    crash: bool,
    /// Begins with nothing imported.
    #[arg(long)]
    fresh: bool,
    /// Two processes share the work over the backend of this URL, such as redis://127.0.0.1:6379.
    /// It has to run. Without this, one process keeps the leases in its memory.
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// How many instances each process runs at once: 8, with a backend 4, unless it is said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    instances: Option<u32>,
}

impl Options {
    fn processes(&self) -> Result<Processes> {
        let (count, backend, instances) = match self.backend.as_deref() {
            None => (1, "memory:", 8),
            Some(url) => {
                ensure!(url != "memory:", "memory: is of one process, and --backend is for two");
                (2, url, 4)
            }
        };
        let instances = self.instances.unwrap_or(instances);
        Ok(Processes { count, instances, backend: backend.to_owned() })
    }
}

/// Runs the demo and answers whether every table was imported exactly once.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let plugin = Plugin::build(options.processes()?)?;
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
    println!("{}, {} tables", plugin.processes(), tables.len());
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Demo {
        #[command(flatten)]
        options: Options,
    }

    fn processes(arguments: &[&str]) -> Result<Processes> {
        let all = ["demo"].iter().chain(arguments);
        Demo::try_parse_from(all).unwrap().options.processes()
    }

    fn said(arguments: &[&str]) -> String {
        processes(arguments).unwrap().to_string()
    }

    #[test]
    fn a_backend_is_for_two_processes() {
        let url = "redis://127.0.0.1";
        assert_eq!(said(&[]), "8 instances");
        assert_eq!(said(&["--instances", "3"]), "3 instances");
        assert_eq!(said(&["--backend", url]), "2 processes of 4 instances");
        assert_eq!(said(&["--backend", url, "--instances", "6"]), "2 processes of 6 instances");
        assert_eq!(processes(&["--backend", url]).unwrap().backend, url);
        assert_eq!(processes(&[]).unwrap().backend, "memory:");
    }

    #[test]
    fn memory_is_for_one_process() {
        assert!(processes(&["--backend", "memory:"]).is_err());
    }
}
