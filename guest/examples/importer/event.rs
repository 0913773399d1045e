//! What the plugin says while it works: one line per event, its fields separated by tabs.

use leases_guest::Fence;

/// Something that happened to a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// This instance begins to import it.
    Took { fence: Fence },
    /// It is imported.
    Imported { fence: Fence, rows: usize },
    /// It was imported before.
    Skipped,
    /// This instance traps now, as it was told to.
    Trapping { fence: Fence, rows: usize },
}

impl Event {
    /// Prints the event, at once and as a whole: standard output is flushed at each line's end.
    pub(crate) fn print(self, table: &str, instance: usize) {
        println!("{}", self.line(table, instance));
    }

    fn line(self, table: &str, instance: usize) -> String {
        match self {
            Event::Took { fence } => format!("took\t{table}\t{instance}\t{fence}"),
            Event::Imported { fence, rows } => {
                format!("imported\t{table}\t{instance}\t{fence}\t{rows}")
            }
            Event::Skipped => format!("skipped\t{table}\t{instance}"),
            Event::Trapping { fence, rows } => {
                format!("trapping\t{table}\t{instance}\t{fence}\t{rows}")
            }
        }
    }
}
