//! A slot that moves from one node of a cluster to another, step by step.

use super::cluster::Cluster;
use super::single::Redis;

const KEYS_AT_ONCE: usize = 100;
const MOVE_MS_MAX: usize = 5000;

/// A slot on its way: its old node answers for the keys that it still has, and `ASK` for others.
#[derive(Debug)]
#[must_use = "the slot stays on its way until this is finished"]
pub struct Moving<'a> {
    cluster: &'a Cluster,
    slot: u16,
    from: &'a Redis,
    to: &'a Redis,
}

impl<'a> Moving<'a> {
    pub(super) async fn begin(
        cluster: &'a Cluster,
        slot: u16,
        from: &'a Redis,
        to: &'a Redis,
    ) -> Self {
        let moving = Moving { cluster, slot, from, to };
        moving.set_slot(to, "IMPORTING", from).await;
        moving.set_slot(from, "MIGRATING", to).await;
        moving
    }

    /// Moves every key of the slot. Those that clients ask for afterwards are on the new node, and
    /// the old one says `ASK`.
    pub async fn move_keys(&self) {
        loop {
            let mut list = redis::cmd("CLUSTER");
            list.arg("GETKEYSINSLOT").arg(self.slot).arg(KEYS_AT_ONCE);
            let keys: Vec<Vec<u8>> = self.from.ask(&list).await;
            if keys.is_empty() {
                return;
            }
            let mut migrate = redis::cmd("MIGRATE");
            migrate.arg("127.0.0.1").arg(self.to.port()).arg("").arg(0).arg(MOVE_MS_MAX);
            self.from.ask::<()>(migrate.arg("KEYS").arg(keys)).await;
        }
    }

    /// Gives the slot to the new node, and waits until every node knows: the old one says `MOVED`.
    /// Its keys must have moved.
    pub async fn finish(self) {
        // The new owner first: were the old one first to forget the slot, nobody would have it.
        self.set_slot(self.to, "NODE", self.to).await;
        for node in self.cluster.nodes() {
            self.set_slot(node, "NODE", self.to).await;
        }
        self.cluster.wait_until_owned(self.slot, self.to).await;
    }

    async fn set_slot(&self, on: &Redis, what: &str, node: &Redis) {
        let id: String = node.ask(redis::cmd("CLUSTER").arg("MYID")).await;
        let mut set = redis::cmd("CLUSTER");
        on.ask::<()>(set.arg("SETSLOT").arg(self.slot).arg(what).arg(id)).await;
    }
}
