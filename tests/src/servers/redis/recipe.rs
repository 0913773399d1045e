//! How a Redis process is started, and when it is ready.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::watching;
use crate::servers::process::Program;
use crate::servers::server::{Ready, Recipe};

const INSTALLED_BY: &str = "apt-get install redis-server redis-sentinel";

/// A server that keeps nothing on disk, with these lines added to its configuration.
pub(super) fn server(lines: &[&str]) -> Recipe {
    let mut lines: Vec<_> = QUIET.iter().chain(lines).map(|line| String::from(*line)).collect();
    lines.push(String::new());
    recipe("redis-server", 1, move |_| lines.join("\n"))
}

const QUIET: [&str; 6] = [
    "save \"\"",
    "appendonly no",
    "protected-mode no",
    // A test that stops a server does not mean to wait for its replicas.
    "shutdown-timeout 0",
    "repl-diskless-sync-delay 0",
    "repl-timeout 5",
];

/// A program of Redis with this configuration, which is told the ports.
pub(super) fn recipe(
    name: &'static str,
    ports: usize,
    configuration: impl Fn(&[u16]) -> String + Send + Sync + 'static,
) -> Recipe {
    let prepare = move |folder: &Path, ports: &[u16]| {
        let file = folder.join("redis.conf");
        let text = head(folder, ports[0]) + &configuration(ports);
        fs::write(&file, text).expect("a configuration");
        vec![OsString::from(file)]
    };
    let program = Program { name, installed_by: INSTALLED_BY };
    Recipe { program, ports, prepare: Box::new(prepare), is_ready }
}

fn head(folder: &Path, port: u16) -> String {
    format!("bind 127.0.0.1\nport {port}\ndir \"{}\"\n", folder.display())
}

fn is_ready(port: u16, process: u32) -> Ready {
    Box::pin(async move {
        let Ok(info) = watching::try_info(port).await else {
            return false;
        };
        let is_it = watching::number(&info, "process_id") == Some(process.into());
        is_it && watching::number(&info, "loading") != Some(1)
    })
}
