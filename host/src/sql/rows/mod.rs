//! What the databases share whose operations run the rules of [`spec`](crate::spec) here: between
//! the beginning and the end of one short transaction a key's rows are read under its lock, a
//! transition is run on them, and the rows that it changed are written.
//!
//! Every key that is known has the row of slot 0, and who changes anything of a key locks it first.
//! What is sent in one go is a [`script`]; the statements are the same for each database, but for a
//! few words.

mod ask;
mod end;
mod forget;
mod guard;
mod link;
mod load;
mod plain;
mod refresh;
mod row;
mod save;
mod script;
mod statements;
mod store;

pub(super) use link::{Dialect, Running, Stopped, gathered};
pub(super) use row::{Cell, Row};
#[cfg(feature = "sqlite")]
pub(super) use script::Value;
pub(super) use script::{Request, Values, Words};
pub(super) use store::RowsStore;
