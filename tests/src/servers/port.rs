//! Ports that no other test picks.

use std::env;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::PathBuf;

use rand::RngExt as _;

/// Below the ports that systems give to outgoing connections, so that a server which is down for a
/// moment finds its port free when it comes back.
const PORTS: Range<u16> = 15_000..30_000;

/// A port of 127.0.0.1 that is for one server, also while it is down.
#[derive(Debug)]
pub(super) struct Port {
    number: u16,
    /// Locked while this lives. Other processes that run these tests look at the same file.
    _reserved: File,
}

impl Port {
    /// A port that nobody listens on and that nobody else reserved. A stranger may still take it.
    pub(super) fn reserve() -> Self {
        loop {
            let number = rand::rng().random_range(PORTS);
            if let Some(port) = Port::reserve_this(number) {
                return port;
            }
        }
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    fn reserve_this(number: u16) -> Option<Self> {
        let folder = reservations();
        fs::create_dir_all(&folder).expect("a folder for reservations");
        let file = File::create(folder.join(number.to_string())).expect("a reservation");
        file.try_lock().ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        Some(Port { number, _reserved: file })
    }
}

/// One folder for each user, as another user's files can't be opened.
fn reservations() -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    env::temp_dir().join(format!("leases-test-ports-{user}"))
}
