//! The kinds of databases, and in what they differ.

use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::Site;
use crate::live::connect;
use crate::program::Program;
use crate::servers::{MariaDb, Postgres, Redis};

/// A kind of database that a backend keeps its data in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// Redis.
    Redis,
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
    /// SQLite.
    Sqlite,
}

/// What cases need that not every database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A server apart from its clients, reached over TCP, which can be cut off, stopped and killed.
    Server,
    /// One operation is one command at the server, where all commands are counted.
    Counts,
    /// Wake-ups are sent to those who listen; others look.
    Wakes,
    /// Tables, and SQL by which they are looked into and changed.
    Tables,
    /// Users with passwords.
    Logins,
    /// A pool that the program has can be used.
    Pools,
}

/// What a case is given: which database, and the program that clients are processes of.
#[derive(Debug, Clone, Copy)]
pub struct On {
    /// Which database.
    pub database: Database,
    /// The file of `client`, which tests alone are told.
    pub client: &'static str,
}

impl Database {
    /// Its name in the names of tests.
    pub fn name(self) -> &'static str {
        match self {
            Database::Redis => "redis",
            Database::Postgres => "postgres",
            Database::MariaDb => "mariadb",
            Database::Sqlite => "sqlite",
        }
    }

    /// What its clock does not count: an end may come that early.
    pub fn resolution(self) -> Duration {
        Duration::from_micros(if self == Database::Sqlite { 1000 } else { 1 })
    }

    /// Whether it has what a case needs.
    pub fn has(self, need: Need) -> bool {
        let has: &[Need] = match self {
            Database::Redis => &[Need::Server, Need::Counts, Need::Wakes, Need::Logins],
            Database::Postgres => {
                &[Need::Server, Need::Counts, Need::Wakes, Need::Tables, Need::Logins, Need::Pools]
            }
            Database::MariaDb => &[Need::Server, Need::Tables, Need::Logins, Need::Pools],
            Database::Sqlite => &[Need::Tables, Need::Pools],
        };
        has.contains(&need)
    }
}

impl On {
    /// Starts one of its own.
    pub async fn start(self) -> Site {
        let site = self.start_empty().await;
        self.migrate(&site).await;
        site
    }

    /// One without tables yet.
    pub async fn start_empty(self) -> Site {
        match self.database {
            Database::Redis => Site::Redis(Redis::start().await),
            Database::Postgres => Site::Postgres(Postgres::start().await),
            Database::MariaDb => Site::MariaDb(MariaDb::start().await),
            Database::Sqlite => Site::Sqlite(TempDir::new().expect("a folder")),
        }
    }

    /// One that has written each change to the disk before it answers.
    pub async fn start_durable(self) -> Site {
        let site = match self.database {
            Database::Redis => Site::Redis(Redis::start_durable().await),
            Database::Postgres => Site::Postgres(Postgres::start_durable().await),
            Database::MariaDb => Site::MariaDb(MariaDb::start_durable().await),
            Database::Sqlite => return self.start().await,
        };
        self.migrate(&site).await;
        site
    }

    /// One that [counts](Need::Counts).
    pub async fn start_counting(self) -> Site {
        let site = match self.database {
            Database::Postgres => Site::Postgres(Postgres::start_counting().await),
            _ => return self.start().await,
        };
        self.migrate(&site).await;
        site
    }

    /// One whose clock shows a time that is not UTC, by other than hours.
    pub async fn start_in_kathmandu(self) -> Site {
        let site = match self.database {
            Database::Postgres => {
                let lines = ["timezone = 'Asia/Kathmandu'", "log_timezone = 'Asia/Kathmandu'"];
                Site::Postgres(Postgres::start_with(&lines).await)
            }
            Database::MariaDb => {
                Site::MariaDb(MariaDb::start_with(&["--default-time-zone=+05:45"]).await)
            }
            Database::Redis | Database::Sqlite => return self.start().await,
        };
        self.migrate(&site).await;
        site
    }

    async fn migrate(self, site: &Site) {
        if self.database.has(Need::Tables) {
            connect(&site.url()).await.migrate().await.expect("it is empty");
        }
    }

    /// How often something is done that is done so many times where an operation takes the least.
    pub fn times(self, at_most: u32) -> u32 {
        match self.database {
            Database::Redis => at_most,
            _ => at_most * 2 / 5,
        }
    }

    /// How many times as long it takes to be let in as where it takes the least.
    pub fn pace(self) -> u32 {
        match self.database {
            Database::Redis | Database::Sqlite => 1,
            Database::Postgres => 3,
            Database::MariaDb => 4,
        }
    }

    /// A process that holds or churns: `client` says what that means.
    pub fn client(self, url: &str, what: &str, name: &str, limit: u32, ttl_ms: u32) -> Program {
        let mut command = Command::new(self.client);
        command.args([url, what, name, &limit.to_string(), &ttl_ms.to_string()]);
        Program::start(&mut command)
    }

    /// The same, whose wall clock is so many seconds off, by `faketime` (`apt-get install
    /// faketime`).
    pub fn skewed_client(self, by: &str, url: &str, name: &str, ttl_ms: u32) -> Program {
        let mut command = Command::new("faketime");
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.args(["-f", by, self.client, url, "hold", name, "0"]);
        Program::start(command.arg(ttl_ms.to_string()))
    }
}
