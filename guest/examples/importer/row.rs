//! One row of a table, and how it is written down.

use std::fmt;

/// One row. Lengths of time are in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row<'t> {
    /// When clocks change, year after year.
    Rule(Rule<'t>),
    /// A zone, with its first era.
    Zone { name: &'t str, era: Era<'t> },
    /// A later era of the zone before it.
    Continuation { zone: &'t str, era: Era<'t> },
    /// Another name for a zone.
    Link { target: &'t str, alias: &'t str },
    /// A leap second.
    Leap { date: [&'t str; 3], time: &'t str, correction: &'t str, kind: &'t str },
    /// A line of a tab-separated table.
    Entry(Vec<&'t str>),
}

/// When clocks change, year after year.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule<'t> {
    pub(crate) name: &'t str,
    pub(crate) from: i32,
    pub(crate) to: LastYear,
    pub(crate) month: &'t str,
    pub(crate) day: &'t str,
    pub(crate) at: &'t str,
    pub(crate) save_s: i32,
    pub(crate) letters: &'t str,
}

/// The last year in which a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastYear {
    /// This one.
    Year(i32),
    /// There is none yet.
    Open,
}

/// A stretch of time in which a zone keeps to the same rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Era<'t> {
    pub(crate) offset_s: i32,
    pub(crate) rules: &'t str,
    pub(crate) format: &'t str,
    /// Its end, from the year to the time of day; empty for the zone's last era.
    pub(crate) until: Vec<&'t str>,
}

impl fmt::Display for Row<'_> {
    /// The fields, separated by tabs, with the row's kind first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::Rule(rule) => write!(f, "rule\t{rule}"),
            Row::Zone { name, era } => write!(f, "zone\t{name}\t{era}"),
            Row::Continuation { zone, era } => write!(f, "continuation\t{zone}\t{era}"),
            Row::Link { target, alias } => write!(f, "link\t{target}\t{alias}"),
            Row::Leap { date, time, correction, kind } => {
                write!(f, "leap\t{}\t{time}\t{correction}\t{kind}", date.join(" "))
            }
            Row::Entry(fields) => write!(f, "entry\t{}", fields.join("\t")),
        }
    }
}

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { name, from, to, month, day, at, save_s, letters } = self;
        write!(f, "{name}\t{from}\t{to}\t{month}\t{day}\t{at}\t{save_s}\t{letters}")
    }
}

impl fmt::Display for LastYear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LastYear::Year(year) => year.fmt(f),
            LastYear::Open => f.write_str("max"),
        }
    }
}

impl fmt::Display for Era<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Era { offset_s, rules, format, until } = self;
        write!(f, "{offset_s}\t{rules}\t{format}\t{}", until.join(" "))
    }
}
