//! Who holds and who waits: `leases list`, `leases show`, `leases revoke`.

mod args;
mod json;
mod list;
mod revoke;
mod show;
mod table;
mod text;
mod time;

pub(crate) use args::{ListArgs, RevokeArgs, ShowArgs, parse_pattern};
pub(crate) use json::list as json_of_list;
pub(crate) use list::list;
pub(crate) use revoke::revoke;
pub(crate) use show::show;
pub(crate) use table::{HEADS, row};
pub(crate) use text::shown;
pub(crate) use time::short;
