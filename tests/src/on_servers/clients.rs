//! Clients that are processes of their own, at the same time.

use leases::Kind;
use tempfile::TempDir;

use crate::live::{SECOND, until_free};
use crate::program::Program;
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![q3_ten_processes_race_on_names_nobody_knows];

/// Case Q3: ten processes take the same names, of which nobody knows yet, at the same time. None of
/// them sees an error, and never do two hold one: see `client`.
async fn q3_ten_processes_race_on_names_nobody_knows(on: On) {
    const NAMES: u32 = 60;
    let site = on.start().await;
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().to_str().expect("UTF-8");
    let start = |_| on.client(&site.url(), "race", path, NAMES, 30_000);
    let mut racing: Vec<Program> = (0..10).map(start).collect();
    for client in &mut racing {
        assert_eq!(client.says(), "ready");
    }
    for client in &mut racing {
        client.tell("go");
    }
    for client in &mut racing {
        assert_eq!(client.says(), "done");
    }
    let leases = site.connect().await;
    for number in 0..NAMES {
        let key = crate::live::lease_key(&format!("race{number}"));
        until_free(&leases, &key, SECOND).await;
        until_free(&leases, &leases::Key { kind: Kind::Semaphore, ..key }, SECOND).await;
    }
}
