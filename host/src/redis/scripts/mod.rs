//! The transitions of [`spec`](crate::spec), spelled in Lua: one script, and one command, for each
//! operation.

use redis::Cmd;

use super::config::{RedisConfig, Servers};
use crate::name::Kind;
use crate::spec::Rules;

/// A script, and the hash by which a server that has seen it knows it.
#[derive(Debug)]
pub(super) struct Script {
    text: String,
    hash: String,
}

/// Every script.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) ask: ByKind,
    pub(super) refresh: Script,
    pub(super) release: ByKind,
    pub(super) leave: ByKind,
    pub(super) revoke: Script,
    pub(super) inspect: Script,
    pub(super) admit: Script,
}

/// One that for leases begins with a short way.
#[derive(Debug)]
pub(super) struct ByKind {
    lease: Script,
    semaphore: Script,
}

/// What all but the shortest ways go through.
const RULES: [&str; 4] = [
    include_str!("key.lua"),
    include_str!("grants.lua"),
    include_str!("departed.lua"),
    include_str!("line.lua"),
];

impl Scripts {
    pub(super) fn new(config: &RedisConfig) -> Self {
        let head = head(config);
        let whole = |body| Script::new([&*head].into_iter().chain(RULES).chain([body]));
        let shortened =
            |short, body| Script::new([&*head, short].into_iter().chain(RULES).chain([body]));
        let by_kind =
            |short, body| ByKind { lease: shortened(short, body), semaphore: whole(body) };
        let own_lease = include_str!("own_lease.lua");
        Scripts {
            ask: by_kind(include_str!("free_lease.lua"), include_str!("ask.lua")),
            refresh: shortened(include_str!("extend_lease.lua"), include_str!("refresh.lua")),
            release: by_kind(own_lease, include_str!("release.lua")),
            leave: by_kind(own_lease, include_str!("leave.lua")),
            revoke: whole(include_str!("revoke.lua")),
            inspect: whole(include_str!("inspect.lua")),
            admit: Script::new([include_str!("admit.lua")]),
        }
    }
}

impl ByKind {
    pub(super) fn of(&self, kind: Kind) -> &Script {
        match kind {
            Kind::Lease => &self.lease,
            Kind::Semaphore => &self.semaphore,
        }
    }
}

impl Script {
    fn new<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let text = parts.into_iter().collect::<Vec<_>>().join("\n");
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Script { text, hash }
    }

    /// The command by which a server that has seen it runs it.
    pub(super) fn by_hash(&self) -> Cmd {
        // Room for the keys and arguments of one name.
        let mut command = Cmd::with_capacity(12, 384);
        command.arg("EVALSHA").arg(&self.hash);
        command
    }

    /// The command by which any server runs it.
    pub(super) fn by_text(&self) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(&self.text);
        command
    }
}

/// The numbers that the transitions depend on, how a process is told, and the time.
fn head(config: &RedisConfig) -> String {
    let Rules { claim_time, line_max } = Rules::default();
    // In a cluster a plain message goes to every node.
    let publish = match config.servers {
        Servers::Cluster(_) => "SPUBLISH",
        Servers::Single(_) | Servers::Sentinel { .. } => "PUBLISH",
    };
    let clock = match config.told_time {
        None => include_str!("clock.lua"),
        Some(_) => include_str!("clock_told.lua"),
    };
    format!(
        "local claim_time, line_max, publish = {}, {line_max}, '{publish}'\n{clock}",
        claim_time.as_micros(),
    )
}
