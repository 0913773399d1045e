//! A cluster of primaries.

use redis::{Cmd, FromRedisValue};

use super::moving::Moving;
use super::range::Range;
use super::single::Redis;
use super::{recipe, watching};
use crate::servers::until;

const SLOTS: u16 = 16384;

/// Some nodes that share all slots evenly, in their order, without replicas.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Redis>,
}

impl Cluster {
    /// Three nodes.
    pub async fn start() -> Self {
        Cluster::start_with(3, &[]).await
    }

    /// So many nodes, with these lines added to their configurations. Waits until each serves its
    /// slots and knows whose the others are, which takes two seconds: Redis makes every new cluster
    /// wait.
    pub async fn start_with(nodes: u16, lines: &[&str]) -> Self {
        let mut started = Cluster { nodes: Vec::new() };
        for _ in 0..nodes {
            started.nodes.push(Redis::run(recipe::node(lines)).await);
        }
        started.share_slots().await;
        started.introduce().await;
        started.wait_until_ok().await;
        started
    }

    /// `redis+cluster://127.0.0.1:P1,127.0.0.1:P2,127.0.0.1:P3`.
    pub fn url(&self) -> String {
        let addresses: Vec<_> = self.nodes.iter().map(Redis::address).collect();
        format!("redis+cluster://{}", addresses.join(","))
    }

    /// Every node, in the order of the slots that they had at the start.
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// The slot of a key, from 0 to 16383.
    pub async fn slot_of(&self, key: &[u8]) -> u16 {
        let mut ask = redis::cmd("CLUSTER");
        ask.arg("KEYSLOT").arg(key);
        self.ask_any(&ask).await
    }

    /// The node that a key is on.
    pub async fn node_of(&self, key: &[u8]) -> &Redis {
        self.owner_of(self.slot_of(key).await).await
    }

    /// The node that a slot is on.
    pub async fn owner_of(&self, slot: u16) -> &Redis {
        let ranges: Vec<Range> = self.ask_any(redis::cmd("CLUSTER").arg("SLOTS")).await;
        let port = owner_of(&ranges, slot).expect("every slot has an owner");
        self.nodes.iter().find(|node| node.port() == port).expect("it is one of ours")
    }

    /// Moves a slot with its keys to this node, and waits until every node knows. Clients that do
    /// not know yet are answered `MOVED`.
    pub async fn move_slot(&self, slot: u16, to: &Redis) {
        let moving = self.begin_move(slot, to).await;
        moving.move_keys().await;
        moving.finish().await;
    }

    /// Begins to move a slot to this node, and moves no key yet. Clients that ask its old node for
    /// a key which that has not, or no longer, are answered `ASK`.
    pub async fn begin_move<'a>(&'a self, slot: u16, to: &'a Redis) -> Moving<'a> {
        Moving::begin(self, slot, self.owner_of(slot).await, to).await
    }

    /// Waits until every node serves its slots and knows all nodes and whose each slot is. One that
    /// was restarted needs two seconds for it.
    pub async fn wait_until_ok(&self) {
        until("the cluster is complete", || async {
            for node in &self.nodes {
                self.if_ok(node).await?;
            }
            Some(())
        })
        .await;
    }

    /// Waits until every node says that this slot is on that node.
    pub(super) async fn wait_until_owned(&self, slot: u16, owner: &Redis) {
        until("every node knows where a slot is", || async {
            for node in &self.nodes {
                let ranges = ranges(node).await?;
                (owner_of(&ranges, slot)? == owner.port()).then_some(())?;
            }
            Some(())
        })
        .await;
    }

    async fn share_slots(&self) {
        let count = u32::try_from(self.nodes.len()).expect("it was an u16");
        for (node, index) in self.nodes.iter().zip(0..) {
            let first = index * u32::from(SLOTS) / count;
            let last = (index + 1) * u32::from(SLOTS) / count - 1;
            let mut add = redis::cmd("CLUSTER");
            node.ask::<()>(add.arg("ADDSLOTSRANGE").arg(first).arg(last)).await;
            // Different ones from the start, or the nodes would have to settle it.
            let mut epoch = redis::cmd("CLUSTER");
            node.ask::<()>(epoch.arg("SET-CONFIG-EPOCH").arg(index + 1)).await;
        }
    }

    async fn introduce(&self) {
        let (first, others) = self.nodes.split_first().expect("at least one node");
        for other in others {
            let mut meet = redis::cmd("CLUSTER");
            meet.arg("MEET").arg("127.0.0.1").arg(other.port()).arg(other.second_port());
            first.ask::<()>(&meet).await;
        }
    }

    async fn if_ok(&self, node: &Redis) -> Option<()> {
        let ask = redis::cmd("CLUSTER").arg("INFO").take();
        let info: String = watching::ask(node.port(), &ask).await.ok()?;
        let known = watching::number(&info, "cluster_known_nodes")?;
        let ranges = ranges(node).await?;
        let assigned: u16 = ranges.iter().map(|range| range.last - range.first + 1).sum();
        let is_ok = watching::text(&info, "cluster_state")? == "ok"
            && usize::try_from(known).ok()? == self.nodes.len()
            && assigned == SLOTS;
        is_ok.then_some(())
    }

    /// The answer of the first node that answers: some may be down.
    async fn ask_any<T: FromRedisValue>(&self, command: &Cmd) -> T {
        until("a node answers", || async {
            for node in &self.nodes {
                if let Ok(answer) = watching::ask(node.port(), command).await {
                    return Some(answer);
                }
            }
            None
        })
        .await
    }
}

async fn ranges(node: &Redis) -> Option<Vec<Range>> {
    watching::ask(node.port(), redis::cmd("CLUSTER").arg("SLOTS")).await.ok()
}

fn owner_of(ranges: &[Range], slot: u16) -> Option<u16> {
    let range = ranges.iter().find(|range| (range.first..=range.last).contains(&slot))?;
    Some(range.port)
}
