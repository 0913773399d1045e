//! What a measurement found: a table for people and a file for programs.

use std::fmt;
use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::samples::Samples;
use crate::{machine, workspace};

/// What one measurement found.
#[derive(Debug)]
pub(crate) struct Report {
    name: &'static str,
    title: String,
    figures: Vec<Figure>,
    notes: Vec<String>,
}

/// One line of a table.
#[derive(Debug)]
pub(crate) struct Figure {
    what: String,
    unit: Unit,
    median: f64,
    p10: f64,
    p90: f64,
    ratio: Option<Ratio>,
    goal: Option<Goal>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Ns,
    Ms,
    KiB,
    Names,
    Calls,
    Holds,
    Percent,
    PerSecond,
}

/// The median, the least and the greatest of the ratios of single rounds.
#[derive(Debug)]
struct Ratio {
    value: f64,
    min: f64,
    max: f64,
    to: String,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    /// Its ratio.
    RatioAtMost(f64),
    /// Its ratio, of a rate.
    RatioAtLeast(f64),
    /// The figure itself.
    AtMost(f64),
}

impl Report {
    pub(crate) fn new(name: &'static str, title: impl Into<String>) -> Self {
        Report { name, title: title.into(), figures: Vec::new(), notes: Vec::new() }
    }

    pub(crate) fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Writes `target/bench/<name>.json`.
    pub(crate) fn save(&self) -> Result<()> {
        let folder = workspace::target().join("bench");
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let file = folder.join(self.name).with_extension("json");
        let document = json!({
            "name": self.name,
            "title": self.title,
            "date": machine::date(),
            "machine": machine::describe(),
            "figures": self.figures.iter().map(Figure::document).collect::<Vec<_>>(),
            "notes": self.notes,
        });
        let text = format!("{document:#}\n");
        fs::write(&file, text).with_context(|| format!("writing {}", file.display()))
    }
}

impl Figure {
    /// A figure with the spread of its rounds.
    pub(crate) fn of(what: impl Into<String>, unit: Unit, samples: &Samples) -> Self {
        Figure {
            what: what.into(),
            unit,
            median: samples.median(),
            p10: samples.percentile(0.1),
            p90: samples.percentile(0.9),
            ratio: None,
            goal: None,
        }
    }

    /// With the median of the ratios of each round to the same round of `baseline`.
    pub(crate) fn beside(mut self, to: &str, samples: &Samples, baseline: &Samples) -> Self {
        let ratios = samples.ratios_to(baseline);
        let [value, min, max] = [0.5, 0.0, 1.0].map(|share| ratios.percentile(share));
        self.ratio = Some(Ratio { value, min, max, to: to.to_owned() });
        self
    }

    pub(crate) fn goal(mut self, goal: Goal) -> Self {
        self.goal = Some(goal);
        self
    }

    fn met(&self) -> Option<bool> {
        Some(match self.goal? {
            Goal::RatioAtMost(most) => self.ratio.as_ref()?.value <= most,
            Goal::RatioAtLeast(least) => self.ratio.as_ref()?.value >= least,
            Goal::AtMost(most) => self.median <= most,
        })
    }

    fn document(&self) -> Value {
        let goal = self.goal.map(|goal| match goal {
            Goal::RatioAtMost(most) => json!({ "of": "ratio", "at_most": most }),
            Goal::RatioAtLeast(least) => json!({ "of": "ratio", "at_least": least }),
            Goal::AtMost(most) => json!({ "of": "median", "at_most": most }),
        });
        json!({
            "what": self.what,
            "unit": self.unit.to_string(),
            "median": self.median,
            "p10": self.p10,
            "p90": self.p90,
            "ratio": self.ratio.as_ref().map(|ratio| ratio.value),
            "ratio_min": self.ratio.as_ref().map(|ratio| ratio.min),
            "ratio_max": self.ratio.as_ref().map(|ratio| ratio.max),
            "ratio_to": self.ratio.as_ref().map(|ratio| &ratio.to),
            "goal": goal,
            "met": self.met(),
        })
    }

    fn cells(&self) -> [String; 8] {
        let ratio = |Ratio { value, min, max, to }: &Ratio| match *value < 0.1 {
            true => format!("{value:.4} ({min:.4} to {max:.4}) of {to}"),
            false => format!("{value:.2} ({min:.2} to {max:.2}) of {to}"),
        };
        let goal = |goal| match goal {
            Goal::RatioAtMost(most) => format!("ratio <= {most}"),
            Goal::RatioAtLeast(least) => format!("ratio >= {least}"),
            Goal::AtMost(most) => format!("<= {most} {}", self.unit),
        };
        [
            self.what.clone(),
            self.unit.to_string(),
            number(self.median),
            number(self.p10),
            number(self.p90),
            self.ratio.as_ref().map(ratio).unwrap_or_default(),
            self.goal.map(goal).unwrap_or_default(),
            self.met().map(|met| if met { "yes" } else { "NO" }.to_owned()).unwrap_or_default(),
        ]
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Ns => "ns",
            Unit::Ms => "ms",
            Unit::KiB => "KiB",
            Unit::Names => "names",
            Unit::Calls => "calls",
            Unit::Holds => "holds",
            Unit::Percent => "%",
            Unit::PerSecond => "/s",
        })
    }
}

const HEAD: [&str; 8] = ["what", "unit", "median", "p10", "p90", "ratio", "goal", "met"];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = HEAD.map(str::to_owned);
        let lines: Vec<_> =
            std::iter::once(head).chain(self.figures.iter().map(Figure::cells)).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
        let widths: [usize; 8] = std::array::from_fn(width);
        writeln!(f, "{}: {}", self.name, self.title)?;
        for line in &lines {
            for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
                match column {
                    2..=4 => write!(f, "  {cell:>width$}")?,
                    _ => write!(f, "  {cell:<width$}")?,
                }
            }
            writeln!(f)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  {note}"))
    }
}

fn number(figure: f64) -> String {
    if figure.abs() < 100.0 { format!("{figure:.1}") } else { format!("{figure:.0}") }
}
