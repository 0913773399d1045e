//! The programs that servers are processes of.

use std::env;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::user::User;

/// A program that is installed here.
#[derive(Debug, Clone)]
pub(super) struct Program {
    file: PathBuf,
    user: Option<User>,
}

impl Program {
    /// The one that is in these folders, else on the path. Panics when there is none with
    /// `installed_by`, which is what to type.
    pub(super) fn find(name: &str, folders: &[PathBuf], installed_by: &str) -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut files = folders.iter().cloned().chain(env::split_paths(&path));
        let file = files.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()));
        Program { file: file.unwrap_or_else(|| panic!("no {name}: {installed_by}")), user: None }
    }

    /// The same, which refuses to be run by root: then it is run by somebody else.
    pub(super) fn not_as_root(self) -> Self {
        Program { user: User::instead_of_root(), ..self }
    }

    pub(super) fn name(&self) -> &str {
        self.file.file_name().and_then(|name| name.to_str()).unwrap_or("a program")
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Makes this file the one's who runs it.
    pub(super) fn give(&self, file: &Path) {
        if let Some(user) = self.user {
            chown(file, Some(user.id), Some(user.group)).expect("root may");
        }
    }

    /// A command that runs it. It is killed when the thread that starts it ends.
    ///
    /// `setpriv` sets the signal and becomes the program, under the same process id. Systems other
    /// than Linux have none: there a server outlives a test process that was killed.
    pub(super) fn command(&self) -> Command {
        if !cfg!(target_os = "linux") {
            return Command::new(&self.file);
        }
        let mut command = Command::new("setpriv");
        if let Some(user) = self.user {
            command.args(["--reuid", &user.id.to_string(), "--regid", &user.group.to_string()]);
            command.arg("--clear-groups");
        }
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.file);
        command
    }
}
