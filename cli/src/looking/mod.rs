//! Who holds and who waits: `leases list`, `leases show`, `leases revoke`.

mod args;
mod json;
mod list;
mod revoke;
mod show;
mod table;
mod text;
mod time;

pub(crate) use args::{ListArgs, RevokeArgs, ShowArgs};
pub(crate) use list::list;
pub(crate) use revoke::revoke;
pub(crate) use show::show;
