//! The transitions of [`spec`](crate::spec), spelled in Lua: one script, and one command, for each
//! operation.

use redis::Cmd;

use super::config::{RedisConfig, Servers};
use super::keys::Keys;
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

/// What ends a hold, or keeps it, takes no room: a server that is full does it too. It has to be the
/// first line.
const ALLOW_OOM: &str = "#!lua flags=allow-oom";

impl Scripts {
    pub(super) fn new(config: &RedisConfig) -> Self {
        let head = head(config);
        let script = |begin: &'static str, short: Option<&'static str>, body: &'static str| {
            let head = [begin, &*head].into_iter().chain(short);
            Script::new(head.chain(RULES).chain([body]))
        };
        let by_kind = |begin, short, body| ByKind {
            lease: script(begin, Some(short), body),
            semaphore: script(begin, None, body),
        };
        let own_lease = include_str!("own_lease.lua");
        Scripts {
            ask: by_kind("", include_str!("free_lease.lua"), include_str!("ask.lua")),
            refresh: script(
                ALLOW_OOM,
                Some(include_str!("extend_lease.lua")),
                include_str!("refresh.lua"),
            ),
            release: by_kind(ALLOW_OOM, own_lease, include_str!("release.lua")),
            leave: by_kind(ALLOW_OOM, own_lease, include_str!("leave.lua")),
            revoke: script(ALLOW_OOM, None, include_str!("revoke.lua")),
            inspect: script("", None, include_str!("inspect.lua")),
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

/// What does not change from call to call, and the time.
fn head(config: &RedisConfig) -> String {
    let Rules { claim_time, line_max } = Rules::default();
    let (claim_time, retention) = (claim_time.as_micros(), config.retention.as_micros());
    // In a cluster a plain message goes to every node, so it is one in the slot of the key.
    let wake = quoted(&format!("{}wake:", config.prefix));
    let revoked = quoted(&Keys::new(config.prefix.clone()).revoked_channel());
    let wake = match config.servers {
        Servers::Cluster(_) => {
            let behind_prefix = config.prefix.len() + 1;
            format!("'SPUBLISH', {wake} .. string.sub(KEYS[1], {behind_prefix}) .. ':'")
        }
        Servers::Single(_) | Servers::Sentinel { .. } => format!("'PUBLISH', {wake}"),
    };
    let clock = match config.told_time {
        None => include_str!("clock.lua"),
        Some(_) => include_str!("clock_told.lua"),
    };
    format!(
        "local claim_time, line_max, retention = {claim_time}, {line_max}, {retention}\n\
         local publish, channel = {wake}\n\
         local told_revoked = {revoked}\n\
         {clock}"
    )
}

/// A text as Lua reads it.
fn quoted(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'.' | b'-' | b'_' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("\\{other:03}"),
    };
    format!("'{}'", text.bytes().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_can_end_no_text_of_lua() {
        assert_eq!(quoted("app:"), "'app:'");
        assert_eq!(quoted("a'\\\n1"), "'a\\039\\092\\0101'");
    }
}
