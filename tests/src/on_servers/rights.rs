//! Users who may not do all.

use leases::Verdict;

use super::tables::works;
use crate::live::connect;
use crate::servers::until;
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![who_may_make_no_table_uses_those_that_are_there];

/// A user who may use the tables, and make none, holds, waits, revokes, guards and forgets.
async fn who_may_make_no_table_uses_those_that_are_there(on: On) {
    let site = on.start().await;
    let user = site.let_in_a_user().await;
    let leases = connect(&format!("{}?retention=300ms", site.url_of(user))).await;
    // Where nothing is missing, nothing is made.
    assert_eq!(leases.migrate().await.unwrap(), 0);
    works(&leases).await;
    let mut held = leases.lease("idle").unwrap().acquire().await.unwrap();
    assert_eq!(leases.guard("idle").unwrap().admit(held.fence()).await.unwrap(), Verdict::Admitted);
    assert!(held.release().await.unwrap());
    // What was revoked is remembered until it would have ended.
    until("idle rows are gone", || async { (site.rows_but("a").await == 0).then_some(()) }).await;
    works(&leases).await;
}
