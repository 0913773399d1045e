//! What things are called in Redis.

use percent_encoding::percent_decode_str;
use redis::Cmd;

use crate::fence::Target;
use crate::name::{Key, Kind, Name};

const LEASE: &str = "lease:";
const SEMAPHORE: &str = "semaphore:";

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

    /// On what every process hears whose holds were revoked. Its last part is no inbox's name.
    pub(super) fn revoked_channel(&self) -> String {
        format!("{}wake:revoked", self.prefix)
    }

    /// What `SCAN` finds the records of these names by, and more.
    pub(super) fn records_like(&self, prefix_of_names: &str) -> String {
        let mut pattern = String::with_capacity(self.prefix.len() + prefix_of_names.len() + 16);
        escape_glob(&self.prefix, &mut pattern);
        pattern.push_str("*:{");
        let mut tag = String::new();
        write_tag(prefix_of_names, &mut tag);
        escape_glob(&tag, &mut pattern);
        pattern.push('*');
        pattern
    }

    /// The key whose record is called so; none where it is something else.
    pub(super) fn key_of(&self, record: &str) -> Option<Key> {
        let (kind, tag) = record.strip_prefix(&*self.prefix)?.split_once('{')?;
        let kind = match kind {
            LEASE => Kind::Lease,
            SEMAPHORE => Kind::Semaphore,
            _ => return None,
        };
        let name = percent_decode_str(tag.strip_suffix('}')?).decode_utf8().ok()?;
        let key = Key { kind, name: Name::new(name).ok()? };
        // Not a name that only looks like one of these.
        (self.record(&key) == record).then_some(key)
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
        write_tag(name, &mut tagged);
        tagged.push('}');
        tagged
    }
}

/// A name, or the beginning of one, as it stands in a hash tag.
fn write_tag(name: &str, tagged: &mut String) {
    for c in name.chars() {
        match c {
            '%' => tagged.push_str("%25"),
            '}' => tagged.push_str("%7D"),
            other => tagged.push(other),
        }
    }
}

/// A text as itself in a pattern.
fn escape_glob(text: &str, pattern: &mut String) {
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '^' | '-' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
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
        Kind::Lease => LEASE,
        Kind::Semaphore => SEMAPHORE,
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

    #[test]
    fn a_record_tells_its_key() {
        let keys = Keys::new("p:".to_owned());
        for name in ["a", "{a}", "}{", "a{b}c", "a%7Db", "%257D", "*?[x]", " ", "a:line"] {
            for kind in [Kind::Lease, Kind::Semaphore] {
                let key = Key { kind, name: Name::new(name).unwrap() };
                assert_eq!(keys.key_of(&keys.record(&key)), Some(key));
            }
        }
        for other in
            ["p:lease:{a}:line", "q:lease:{a}", "p:fence:{a}", "p:lease:{%7d}", "p:lease:{}"]
        {
            assert_eq!(keys.key_of(other), None, "{other}");
        }
        assert_eq!(keys.records_like("a*}"), "p:*:{a\\*%7D*");
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
