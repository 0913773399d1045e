//! One line per table, as it gets done.

use std::collections::BTreeSet;

use super::event::{Event, Kind};
use super::tables::Table;

/// Which tables are done, and how their lines are aligned.
#[derive(Debug)]
pub(super) struct Progress {
    /// Those that an instance began in this run: they were not imported before.
    taken: BTreeSet<String>,
    done: BTreeSet<String>,
    total: usize,
    width: usize,
}

impl Progress {
    /// No table is done.
    pub(super) fn new(tables: &[Table]) -> Self {
        let width = tables.iter().map(|table| table.name.len()).max().unwrap_or(0);
        Progress { taken: BTreeSet::new(), done: BTreeSet::new(), total: tables.len(), width }
    }

    /// What to print for an event. An instance that skips a table whose line is out says nothing
    /// new; nor does one that skips a table of this run whose line is yet to come, as may be where
    /// the events of two processes meet.
    pub(super) fn line(&mut self, event: &Event) -> Option<String> {
        let what = match event.kind {
            Kind::Took { .. } => {
                self.taken.insert(event.table.clone());
                return None;
            }
            Kind::Imported { fence, rows } => format!("fence {fence}  rows {}", grouped(rows)),
            Kind::Skipped if self.is_known(&event.table) => return None,
            Kind::Skipped => "skipped: imported before".to_owned(),
            Kind::Trapping { fence, rows } => {
                format!("fence {fence}  traps at row {}", grouped(rows))
            }
        };
        let count = self.count(event);
        let Event { table, instance, .. } = event;
        let (width, digits) = (self.width, self.total.to_string().len());
        let counter = format!("[{count:>digits$}/{}]", self.total);
        Some(format!("{counter} {table:<width$}  instance {instance:<2}  {what}"))
    }

    fn is_known(&self, table: &str) -> bool {
        self.taken.contains(table) || self.done.contains(table)
    }

    /// How many tables are done, with this event; nothing to count for one that is not.
    fn count(&mut self, event: &Event) -> String {
        if matches!(event.kind, Kind::Trapping { .. }) {
            return "-".to_owned();
        }
        self.done.insert(event.table.clone());
        self.done.len().to_string()
    }
}

/// A number with a comma between its thousands.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_counted() {
        let table = |name: &str| Table { name: name.to_owned(), rows: 0 };
        let mut progress = Progress::new(&[table("asia"), table("etcetera")]);
        let mut line = |text: &str| progress.line(&Event::read(text).unwrap());
        assert_eq!(line("took\tasia\t3\t17"), None);
        let trap = "[-/2] asia      instance 3   fence 17  traps at row 300";
        assert_eq!(line("trapping\tasia\t3\t17\t300").as_deref(), Some(trap));
        let imported = "[1/2] asia      instance 12  fence 18  rows 2,913";
        assert_eq!(line("imported\tasia\t12\t18\t2913").as_deref(), Some(imported));
        assert_eq!(line("skipped\tasia\t3"), None);
        let skipped = "[2/2] etcetera  instance 3   skipped: imported before";
        assert_eq!(line("skipped\tetcetera\t3").as_deref(), Some(skipped));
    }

    #[test]
    fn a_skip_that_overtakes_the_import_says_nothing() {
        let mut progress = Progress::new(&[Table { name: "asia".to_owned(), rows: 0 }]);
        let mut line = |text: &str| progress.line(&Event::read(text).unwrap());
        assert_eq!(line("took\tasia\t3\t17"), None);
        assert_eq!(line("skipped\tasia\t4"), None);
        let imported = "[1/1] asia  instance 3   fence 17  rows 9";
        assert_eq!(line("imported\tasia\t3\t17\t9").as_deref(), Some(imported));
    }

    #[test]
    fn thousands_are_grouped() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567];
        assert_eq!(numbers.map(grouped), ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
