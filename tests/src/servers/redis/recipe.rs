//! How a Redis process is started, and when it is ready.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use rustix::process::Signal;

use super::watching;
use crate::servers::program::Program;
use crate::servers::server::{Ready, Recipe, Started};

const INSTALLED_BY: &str = "apt-get install redis-server redis-sentinel";

/// A server that keeps nothing on disk, with these lines added to its configuration.
pub(super) fn server(lines: &[&str]) -> Recipe {
    let text = text(lines);
    recipe("redis-server", 1, move |_| text.clone())
}

/// A node of a cluster, which knows no other yet.
pub(super) fn node(lines: &[&str]) -> Recipe {
    let text = text(lines);
    recipe("redis-server", 2, move |ports| {
        format!("cluster-enabled yes\ncluster-port {}\ncluster-node-timeout 2000\n{text}", ports[1])
    })
}

/// A sentinel that decides alone, and soon, about the primary on this port.
pub(super) fn sentinel(service: &str, primary: u16) -> Recipe {
    let text = format!(
        "sentinel monitor {service} 127.0.0.1 {primary} 1\n\
         sentinel down-after-milliseconds {service} 500\n\
         sentinel failover-timeout {service} 2000\n"
    );
    recipe("redis-sentinel", 1, move |_| text.clone())
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

fn text(lines: &[&str]) -> String {
    QUIET.iter().chain(lines).map(|line| format!("{line}\n")).collect()
}

/// A program of Redis with this configuration, which is told the ports.
fn recipe(
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
    let program = Program::find(name, &[], INSTALLED_BY);
    Recipe { program, ports, prepare: Box::new(prepare), is_ready, stopped_by: Signal::TERM }
}

fn head(folder: &Path, port: u16) -> String {
    format!("bind 127.0.0.1\nport {port}\ndir \"{}\"\n", folder.display())
}

fn is_ready(started: Started) -> Ready {
    Box::pin(async move {
        let Ok(info) = watching::try_info(started.port).await else {
            return false;
        };
        let is_it = watching::number(&info, "process_id") == Some(started.process.into());
        is_it && watching::number(&info, "loading") != Some(1)
    })
}
