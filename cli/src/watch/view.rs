//! What is known, and which part of it is seen.

use std::time::{Duration, Instant};

use leases::Listed;

use super::looks::Looked;
use crate::looking::{HEADS, row};

/// The last answer, and where in it the reader is.
pub(super) struct View {
    /// What is looked at.
    of: String,
    listed: Vec<Listed>,
    /// Behind which row each of the listed keys ends.
    ends: Vec<usize>,
    answered_at: Instant,
    /// Why the last look had no answer, if it had none.
    unanswered: Option<String>,
    /// The first row that is seen.
    top: usize,
    /// How many rows there is room for.
    page: usize,
}

/// A way through the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

impl View {
    /// Of what a first look found.
    pub(super) fn new(of: String, first: Looked) -> Self {
        let (listed, ends, unanswered) = Default::default();
        let mut view =
            View { of, listed, ends, answered_at: first.at, unanswered, top: 0, page: 0 };
        view.take(first);
        view
    }

    /// What a look found takes the place of what was known; where it had no answer, what was known
    /// stays.
    pub(super) fn take(&mut self, looked: Looked) {
        match looked.answer {
            Ok(listed) => {
                let mut end = 0;
                let rows = |listed: &Listed| listed.view.holders.len() + listed.view.waiters.len();
                self.ends = listed
                    .iter()
                    .map(|key| {
                        end += rows(key);
                        end
                    })
                    .collect();
                self.listed = listed;
                self.answered_at = looked.at;
                self.unanswered = None;
            }
            Err(why) => self.unanswered = Some(why),
        }
        self.turn_to(self.top);
    }

    /// Says for how many rows there is room.
    pub(super) fn fit(&mut self, page: usize) {
        self.page = page;
        self.turn_to(self.top);
    }

    /// Shows another part.
    pub(super) fn go(&mut self, to: Move) {
        let page = self.page.max(1);
        self.turn_to(match to {
            Move::Up => self.top.saturating_sub(1),
            Move::Down => self.top.saturating_add(1),
            Move::PageUp => self.top.saturating_sub(page),
            Move::PageDown => self.top.saturating_add(page),
            Move::Home => 0,
            Move::End => self.len(),
        });
    }

    /// Never farther down than where the last row is the last that is seen.
    fn turn_to(&mut self, top: usize) {
        self.top = top.min(self.len().saturating_sub(self.page));
    }

    /// What is looked at.
    pub(super) fn of(&self) -> &str {
        &self.of
    }

    /// How many hold and how many wait.
    pub(super) fn counts(&self) -> (usize, usize) {
        let holds = self.listed.iter().map(|key| key.view.holders.len()).sum();
        (holds, self.len() - holds)
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Which rows are seen.
    pub(super) fn seen(&self) -> std::ops::Range<usize> {
        self.top..self.len().min(self.top + self.page)
    }

    /// How long ago the last answer came.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.answered_at)
    }

    /// Why the last look had no answer, if it had none.
    pub(super) fn unanswered(&self) -> Option<&str> {
        self.unanswered.as_deref()
    }

    /// The rows that are seen, and no others: there may be very many. Their times go on from those
    /// of the last answer by this machine's clock.
    pub(super) fn rows(&self, now: Instant) -> Vec<[String; HEADS.len()]> {
        let later = self.age(now);
        self.seen().filter_map(|at| self.row(at, later)).collect()
    }

    fn row(&self, at: usize, later: Duration) -> Option<[String; HEADS.len()]> {
        let place = self.ends.partition_point(|end| *end <= at);
        let before = place.checked_sub(1).and_then(|before| self.ends.get(before));
        row(self.listed.get(place)?, at - before.copied().unwrap_or(0), later)
    }
}

#[cfg(test)]
mod tests;
