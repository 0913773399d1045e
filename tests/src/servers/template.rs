//! Data folders of servers, which are slow to make: each is made once and copied for every server.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use super::program::Program;

/// What a server's data folder is called, in the folder of the server.
pub(super) const DATA: &str = "data";

/// Copies to [`DATA`] in this folder what this program makes, with these arguments, of an empty
/// folder that it is run in.
pub(super) fn copy(program: &Program, arguments: &[&str], folder: &Path) -> PathBuf {
    let data = folder.join(DATA);
    copy_folder(&template(program, arguments), &data, program);
    data
}

/// Where the template is. Of all processes that run tests, one makes it.
fn template(program: &Program, arguments: &[&str]) -> PathBuf {
    let folder = Path::new(env!("LEASES_SERVERS")).join(name(program, arguments));
    if folder.exists() {
        return folder;
    }
    fs::create_dir_all(env!("LEASES_SERVERS")).expect("a folder for templates");
    let lock = File::create(folder.with_extension("lock")).expect("a lock");
    lock.lock().expect("it can be locked");
    if !folder.exists() {
        make(program, arguments, &folder);
    }
    folder
}

/// Another release of the program, or other arguments, make another template. So do another user's
/// tests: what they are not allowed to read, they can't copy.
fn name(program: &Program, arguments: &[&str]) -> String {
    let about = fs::metadata(program.file()).expect("it is installed");
    let modified = about.modified().expect("a time");
    let user = rustix::process::geteuid().as_raw();
    let mut hasher = DefaultHasher::new();
    (program.file(), about.len(), modified, arguments, user).hash(&mut hasher);
    format!("{}-{:016x}", program.name(), hasher.finish())
}

/// It is made elsewhere: who runs the program may not be allowed to enter the folder of the
/// templates. It gets its name when it is complete.
fn make(program: &Program, arguments: &[&str], folder: &Path) {
    let place = TempDir::with_prefix("leases-template-").expect("a folder");
    program.give(place.path());
    let mut command = program.command();
    command.args(arguments).current_dir(place.path()).stdin(Stdio::null());
    // The one of this process need not be for the one who runs the program.
    command.env("TMPDIR", place.path());
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", program.name()));
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed:\n{said}", program.name());
    let incomplete = folder.with_extension("incomplete");
    let _ = fs::remove_dir_all(&incomplete);
    copy_folder(place.path(), &incomplete, program);
    fs::rename(&incomplete, folder).expect("a template");
}

/// The copy is for the one who runs the program.
fn copy_folder(from: &Path, to: &Path, program: &Program) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().expect("a type").is_dir() {
            copy_folder(&from, &to, program);
        } else {
            fs::copy(&from, &to).expect("a copy");
            program.give(&to);
        }
    }
    let permissions = fs::metadata(from).expect("a folder").permissions();
    fs::set_permissions(to, permissions).expect("permissions");
    program.give(to);
}
