//! The migrations, which are part of the program.

use super::error::Failure;

/// Where it is written down which were applied: a table of our own, so that a program with
/// migrations of its own does not meet ours.
#[derive(Debug)]
pub(super) struct Migration {
    /// Its place in the order; the same in every database.
    pub(super) number: i64,
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// The migrations of one database, whose folder has a file for each.
macro_rules! of {
    ($folder:literal) => {
        $crate::sql::migrations::each!(
            $folder,
            1 "0001_grants",
            2 "0002_lines",
            3 "0003_guards",
            4 "0004_revocations"
        )
    };
}
pub(super) use of;

macro_rules! each {
    ($folder:literal, $($number:literal $name:literal),+) => {
        [$($crate::sql::migrations::Migration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("../../../../migrations/", $folder, "/", $name, ".sql")),
        }),+]
    };
}
pub(super) use each;

/// The number of the last.
pub(super) const LATEST: i64 = 4;

/// Fails where the tables are of a later version.
pub(super) fn check(stored: Option<i64>) -> Result<(), Failure> {
    match stored {
        Some(stored) if stored > LATEST => Err(Failure::TooNew { stored, known: LATEST }),
        _ => Ok(()),
    }
}

/// Those that were not applied yet, in their order.
pub(super) fn missing(all: &[Migration], stored: Option<i64>) -> &[Migration] {
    let applied = all.partition_point(|one| stored.is_some_and(|stored| one.number <= stored));
    all.get(applied..).unwrap_or_default()
}

impl Migration {
    /// The statement that writes down that it was applied. A name is letters, digits and underscores.
    pub(super) fn note(&self) -> String {
        let Migration { number, name, .. } = self;
        format!("INSERT INTO leases_migrations (number, name) VALUES ({number}, '{name}')")
    }
}
