//! Who runs a server that refuses to be run by root.

use std::fs;

/// The numbers of a user and of its group.
#[derive(Debug, Clone, Copy)]
pub(super) struct User {
    pub(super) id: u32,
    pub(super) group: u32,
}

impl User {
    /// `nobody`, to whom none of the machine's own data belongs. None when this process is not
    /// root's: whoever runs the tests may run their servers.
    pub(super) fn instead_of_root() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let users = fs::read_to_string("/etc/passwd").expect("a list of users");
        let nobody = users.lines().find_map(|line| {
            let mut fields = line.strip_prefix("nobody:")?.split(':').skip(1);
            Some(User { id: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
        });
        Some(nobody.expect("there is a user `nobody`"))
    }
}
