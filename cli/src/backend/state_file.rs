//! The file where commands that meet other processes keep leases when nothing says where.

use std::env;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use leases::Leases;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{causes, of_this_process};
use crate::environment;
use crate::failure::Failure;

/// A SQLite file in the user's state folder.
#[derive(Debug)]
pub(crate) struct StateFile(PathBuf);

impl StateFile {
    /// This user's, by the XDG Base Directory Specification: a path that is not absolute counts as
    /// none.
    pub(super) fn of_this_user() -> Result<Self, Failure> {
        let absolute = |name| {
            let path = env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = absolute(environment::STATE_HOME.name)
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        let state = state.ok_or_else(|| {
            Failure::usage(
                "no --backend, LEASES_REDIS_URL or LEASES_DATABASE_URL, and no XDG_STATE_HOME or \
                 HOME for a file: name one, as --backend sqlite:leases.db",
            )
        })?;
        Ok(StateFile(state.join("leases/leases.db")))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Connects, and makes the file if it is missing; its tables are as they were.
    pub(crate) async fn connect(&self) -> Result<Leases, Failure> {
        let shown = self.0.display();
        let unavailable = |why| Failure::unavailable(format_args!("{shown}: {why}"));
        self.make().map_err(|error| unavailable(error.to_string()))?;
        let path = self.0.to_str().ok_or_else(|| unavailable("not in UTF-8".to_owned()))?;
        let url = format!("sqlite:{}", utf8_percent_encode(path, NON_ALPHANUMERIC));
        let connected = Leases::builder_at(url).await.map(of_this_process);
        connected.map_err(|error| unavailable(format!("not reached: {}", causes(&error))))
    }

    /// Connects, and makes what is missing: the file and its tables.
    pub(super) async fn connect_migrated(&self) -> Result<Leases, Failure> {
        let leases = self.connect().await?;
        let migrated = leases.migrate().await;
        migrated.map_err(|error| {
            Failure::unavailable(format_args!("{}: {}", self.0.display(), causes(&error)))
        })?;
        Ok(leases)
    }

    /// Makes the file with its folder, for this user alone. SQLite gives the files beside it the
    /// same mode.
    fn make(&self) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            folder_for_one(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.0).map(drop)
    }
}

fn folder_for_one(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
