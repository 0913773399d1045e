//! A PgBouncer, which gives many clients few connections to a PostgreSQL server.

use std::ffi::OsString;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use tokio::net::TcpStream;

use super::postgres::Postgres;
use super::program::Program;
use super::server::{Ready, Recipe, Server, Started};

const INSTALLED_BY: &str = "apt-get install pgbouncer";

/// Not on the path of every user.
const SERVERS: &str = "/usr/sbin";

/// A PgBouncer of its own, in transaction mode: what one client says from one transaction to the
/// next may reach the server through different connections. As a [`Server`] it can be killed,
/// paused and restarted.
#[derive(Debug)]
pub struct PgBouncer {
    server: Server,
}

impl PgBouncer {
    /// One whose clients get to this server, also after it was restarted.
    pub async fn before(postgres: &Postgres) -> Self {
        PgBouncer { server: Server::start(recipe(postgres.port())).await }
    }

    /// `postgres://postgres@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address())
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }
}

impl Deref for PgBouncer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

fn recipe(postgres: u16) -> Recipe {
    let program = Program::find("pgbouncer", &[PathBuf::from(SERVERS)], INSTALLED_BY).not_as_root();
    let prepare = move |folder: &Path, ports: &[u16]| {
        let file = folder.join("pgbouncer.ini");
        fs::write(&file, configuration(folder, ports[0], postgres)).expect("a configuration");
        vec![OsString::from(file)]
    };
    // Its other signals wait for its clients.
    let stopped_by = Signal::TERM;
    Recipe { program, ports: 1, prepare: Box::new(prepare), is_ready, stopped_by }
}

fn configuration(folder: &Path, port: u16, postgres: u16) -> String {
    let process_file = process_file(folder);
    format!(
        "[databases]\n\
         * = host=127.0.0.1 port={postgres} user=postgres\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = any\n\
         pool_mode = transaction\n\
         ; What drivers set when they connect, and what it can't keep apart.\n\
         ignore_startup_parameters = extra_float_digits, options\n\
         ; A server that was down for a moment is not left alone for long.\n\
         server_login_retry = 0.1\n\
         pidfile = {}\n",
        process_file.display()
    )
}

fn process_file(folder: &Path) -> PathBuf {
    folder.join("process")
}

fn is_ready(started: Started) -> Ready {
    Box::pin(async move {
        let process = fs::read_to_string(process_file(&started.folder)).unwrap_or_default();
        let is_it = process.trim() == started.process.to_string();
        is_it && TcpStream::connect(("127.0.0.1", started.port)).await.is_ok()
    })
}
