//! The cases on real servers, on every database that has what they need.

use leases_tests::{Database, On, on_servers};
use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Builder;

/// Every database that they run on.
const DATABASES: &[Database] =
    &[Database::Redis, Database::Postgres, Database::MariaDb, Database::Sqlite];

fn main() -> std::process::ExitCode {
    let mut trials = Vec::new();
    for &database in DATABASES {
        for area in on_servers::ALL {
            if !area.needs.iter().all(|need| database.has(*need)) {
                continue;
            }
            for case in area.cases {
                let name = format!("{}::{}::{}", database.name(), area.name, case.name);
                let on = On { database, client: env!("CARGO_BIN_EXE_client") };
                let run = case.run;
                trials.push(Trial::test(name, move || {
                    let runtime = Builder::new_current_thread().enable_all().build()?;
                    runtime.block_on(run(on));
                    Ok(())
                }));
            }
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
