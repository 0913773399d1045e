//! A primary, its replica, and the sentinel that watches them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::single::Redis;
use super::{recipe, watching};
use crate::servers::until;

const SERVICE: &str = "main";

/// Two servers under the service name `main`, and one sentinel that makes the replica the primary
/// when the primary has not answered for half a second.
#[derive(Debug)]
pub struct Sentinel {
    primary: Redis,
    replica: Redis,
    sentinel: Redis,
    /// The port of the primary that was last awaited.
    known_primary: Mutex<u16>,
}

impl Sentinel {
    /// Starts all three, and waits until the replica has all data and the sentinel knows it.
    pub async fn start() -> Self {
        Sentinel::start_with(&[]).await
    }

    /// The same, with these lines added to the configurations of the primary and the replica.
    pub async fn start_with(lines: &[&str]) -> Self {
        let primary = Redis::start_with(lines).await;
        let replica_of = format!("replicaof 127.0.0.1 {}", primary.port());
        let replica = Redis::start_with(&[lines, &[&replica_of]].concat()).await;
        until("the replica is in sync", || is_in_sync(&replica)).await;
        let sentinel = Redis::run(recipe::sentinel(SERVICE, primary.port())).await;
        hurry(&sentinel).await;
        let known_primary = Mutex::new(primary.port());
        let started = Sentinel { primary, replica, sentinel, known_primary };
        started.wait_for_replica().await;
        started
    }

    /// `redis+sentinel://127.0.0.1:SENTINELPORT/main`.
    pub fn url(&self) -> String {
        format!("redis+sentinel://{}/{SERVICE}", self.sentinel.address())
    }

    /// The server that was the primary at the start, whatever it is now.
    pub fn primary(&self) -> &Redis {
        &self.primary
    }

    /// The server that was the replica at the start, whatever it is now.
    pub fn replica(&self) -> &Redis {
        &self.replica
    }

    /// The sentinel's own server, which has no data.
    pub fn sentinel(&self) -> &Redis {
        &self.sentinel
    }

    /// Waits until the sentinel names another primary than at the start, or than this call last
    /// answered, and that one says so too.
    pub async fn wait_for_failover(&self) -> &Redis {
        let known = *self.known_primary.lock().unwrap_or_else(PoisonError::into_inner);
        let now = until("there is another primary", || async {
            let now = self.named_primary().await?;
            (now.port() != known && role(now).await? == "master").then_some(now)
        })
        .await;
        *self.known_primary.lock().unwrap_or_else(PoisonError::into_inner) = now.port();
        now
    }

    /// Waits until there is a replica that has all data and that the sentinel would choose: a
    /// second failover needs the first primary back as one.
    pub async fn wait_for_replica(&self) {
        until("the sentinel knows a replica", || async {
            let mut ask = redis::cmd("SENTINEL");
            ask.arg("REPLICAS").arg(SERVICE);
            let replicas =
                watching::ask::<Vec<HashMap<String, String>>>(self.sentinel.port(), &ask);
            let is_chosen = |replica: &HashMap<String, String>| {
                replica["flags"] == "slave" && replica["master-link-status"] == "ok"
            };
            replicas.await.ok()?.iter().any(is_chosen).then_some(())
        })
        .await;
    }

    async fn named_primary(&self) -> Option<&Redis> {
        let mut ask = redis::cmd("SENTINEL");
        ask.arg("GET-MASTER-ADDR-BY-NAME").arg(SERVICE);
        let (_, port): (String, u16) = watching::ask(self.sentinel.port(), &ask).await.ok()?;
        [&self.primary, &self.replica].into_iter().find(|server| server.port() == port)
    }
}

/// By itself a sentinel looks every ten seconds, and after a time in which it was not scheduled it
/// does nothing for thirty. Restarted, it does so again.
async fn hurry(sentinel: &Redis) {
    let mut set = redis::cmd("SENTINEL");
    set.arg("DEBUG").arg("INFO-PERIOD").arg(200).arg("PUBLISH-PERIOD").arg(200);
    sentinel.ask::<()>(set.arg("TILT-PERIOD").arg(1000)).await;
}

async fn is_in_sync(replica: &Redis) -> Option<()> {
    let info = watching::try_info(replica.port()).await.ok()?;
    (watching::text(&info, "master_link_status")? == "up").then_some(())
}

async fn role(server: &Redis) -> Option<String> {
    let info = watching::try_info(server.port()).await.ok()?;
    watching::text(&info, "role").map(String::from)
}
