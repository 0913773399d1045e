//! MySQL and MariaDB.

mod dialect;
mod migrate;
mod settings;

pub(super) use settings::Settings;
