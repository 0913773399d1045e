//! What things are called in Redis.

use redis::Cmd;

use crate::fence::Target;
use crate::name::{Key, Kind, Name};

/// The names under one prefix.
#[derive(Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: String) -> Self {
        Keys { prefix }
    }

    /// The record of a key: `leases:lease:{jobs/1}`. What else is stored of the key is called so
    /// too, and something behind it.
    pub(super) fn record(&self, key: &Key) -> String {
        self.tagged(kind(key), &key.name)
    }

    /// The guard of a target: `leases:fence:{table}`, or `leases:fence:{table}:3` for one slot.
    pub(super) fn guard(&self, target: &Target) -> String {
        let mut guard = self.tagged("fence:", &target.name);
        if let Some(slot) = target.slot {
            guard.push_str(&format!(":{slot}"));
        }
        guard
    }

    /// What a process's inbox is appended to, for one channel that serves every key.
    pub(super) fn channel(&self) -> String {
        format!("{}wake:", self.prefix)
    }

    /// What a process's inbox is appended to, for a channel in a key's own slot of a cluster.
    pub(super) fn channel_of(&self, key: &Key) -> String {
        let mut channel = self.tagged(&format!("wake:{}", kind(key)), &key.name);
        channel.push(':');
        channel
    }

    /// What is written to see that replicas follow, in a key's own slot of a cluster.
    pub(super) fn confirm(&self, key: &Key) -> String {
        self.tagged("confirm:", &key.name)
    }

    /// The name as a hash tag: all between the first `{` and the first `}` behind it decides on the
    /// slot, so a brace that the name has itself is written otherwise.
    fn tagged(&self, what: &str, name: &Name) -> String {
        let name = name.as_str();
        let mut tagged = String::with_capacity(self.prefix.len() + what.len() + name.len() + 16);
        tagged.push_str(&self.prefix);
        tagged.push_str(what);
        tagged.push('{');
        for c in name.chars() {
            match c {
                '%' => tagged.push_str("%25"),
                '}' => tagged.push_str("%7D"),
                other => tagged.push(other),
            }
        }
        tagged.push('}');
        tagged
    }
}

/// How many keys a script declares of one key.
pub(super) fn count(kind: Kind) -> u8 {
    match kind {
        Kind::Lease => 4,
        Kind::Semaphore => 5,
    }
}

/// Declares what is stored of a key, in the order that every script has it.
pub(super) fn declare(command: &mut Cmd, kind: Kind, record: &str) {
    command.arg(record);
    let mut name = String::with_capacity(record.len() + 8);
    name.push_str(record);
    for part in [":line", ":lapses", ":details", ":holds"].iter().take(usize::from(count(kind)) - 1)
    {
        name.truncate(record.len());
        name.push_str(part);
        command.arg(&name);
    }
}

/// The slot of a cluster in which a key is: that of its hash tag, where it has one.
pub(super) fn slot(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, behind)| behind.split_once('}'));
    let hashed = tag.map(|(tag, _)| tag).filter(|tag| !tag.is_empty()).unwrap_or(key);
    crc16::State::<crc16::XMODEM>::calculate(hashed.as_bytes()) % 16384
}

fn kind(key: &Key) -> &'static str {
    match key.kind {
        Kind::Lease => "lease:",
        Kind::Semaphore => "semaphore:",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(prefix: &str, name: &str) -> String {
        let key = Key { kind: Kind::Lease, name: Name::new(name).unwrap() };
        Keys::new(prefix.to_owned()).record(&key)
    }

    #[test]
    fn a_name_with_braces_stays_within_its_tag() {
        for (name, expected) in [
            ("a", "p:lease:{a}"),
            ("{a}", "p:lease:{{a%7D}"),
            ("}{", "p:lease:{%7D{}"),
            ("a{b}c", "p:lease:{a{b%7Dc}"),
            ("a%7Db", "p:lease:{a%257Db}"),
        ] {
            assert_eq!(record("p:", name), expected);
        }
    }

    /// Figures of the cluster specification of Redis, and of CLUSTER KEYSLOT.
    #[test]
    fn a_key_is_in_the_slot_of_its_tag() {
        assert_eq!(slot("123456789"), 0x31c3);
        assert_eq!(slot("foo"), 12182);
        assert_eq!(slot("x{foo}y"), 12182);
        assert_eq!(slot("{}foo"), slot_of_all("{}foo"));
    }

    fn slot_of_all(key: &str) -> u16 {
        crc16::State::<crc16::XMODEM>::calculate(key.as_bytes()) % 16384
    }

    #[test]
    fn no_two_names_meet() {
        let names = ["a", "A", "a ", "{a}", "a{b}c", "}{", "a}", "a%7D", "a%257D", "a:line"];
        let records: std::collections::HashSet<_> =
            names.iter().map(|name| record("leases:", name)).collect();
        assert_eq!(records.len(), names.len());
    }
}
