//! What the plugin says, read back.

/// One event, with its table and the instance that it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) table: String,
    pub(super) instance: u32,
    pub(super) kind: Kind,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The instance begins to import the table.
    Took { fence: u64 },
    /// The table is imported.
    Imported { fence: u64, rows: usize },
    /// The table was imported before.
    Skipped,
    /// The instance traps.
    Trapping { fence: u64, rows: usize },
}

impl Event {
    /// Reads a line; `None` for one that is no event.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let word = fields.next()?;
        let table = fields.next()?.to_owned();
        let instance = fields.next()?.parse().ok()?;
        let numbers = fields.map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
        let kind = match (word, numbers.as_slice()) {
            ("took", &[fence]) => Kind::Took { fence },
            ("imported", &[fence, rows]) => Kind::Imported { fence, rows: rows.try_into().ok()? },
            ("skipped", []) => Kind::Skipped,
            ("trapping", &[fence, rows]) => Kind::Trapping { fence, rows: rows.try_into().ok()? },
            _ => return None,
        };
        Some(Event { table, instance, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> Option<Kind> {
        Event::read(line).map(|event| event.kind)
    }

    #[test]
    fn every_event_is_read() {
        assert_eq!(kind("took\ta\t1\t9"), Some(Kind::Took { fence: 9 }));
        assert_eq!(kind("imported\ta\t1\t9\t20"), Some(Kind::Imported { fence: 9, rows: 20 }));
        assert_eq!(kind("skipped\ta\t1"), Some(Kind::Skipped));
        assert_eq!(kind("trapping\ta\t1\t9\t20"), Some(Kind::Trapping { fence: 9, rows: 20 }));
        let event = Event::read("skipped\teurope\t7").unwrap();
        assert_eq!((event.table.as_str(), event.instance), ("europe", 7));
    }

    #[test]
    fn other_lines_are_no_events() {
        for line in ["", "hello", "took\ta\t1", "took\ta\tb\t9", "skipped\ta\t1\t9", "lost\ta\t1"] {
            assert_eq!(Event::read(line), None, "{line:?}");
        }
    }
}
