//! Figures of many rounds.

use std::time::Duration;

use anyhow::Result;

/// One contender's figure of each round, in the order of the rounds.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    pub(crate) fn median(&self) -> f64 {
        self.percentile(0.5)
    }

    /// The figure below which this share of them lies.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }

    /// Each round's figure divided by the same round's of `baseline`.
    pub(crate) fn ratios_to(&self, baseline: &Samples) -> Samples {
        let pairs = self.0.iter().zip(&baseline.0);
        pairs.map(|(figure, baseline)| figure / baseline).collect()
    }

    /// Each round's figure plus `times` the same round's of another.
    pub(crate) fn plus(&self, times: f64, other: &Samples) -> Samples {
        self.0.iter().zip(&other.0).map(|(figure, other)| figure + times * other).collect()
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        Samples(figures.into_iter().collect())
    }
}

/// What is measured: does its work once and answers the figure, or several.
pub(crate) type Contender<'a, T = f64> = Box<dyn FnMut() -> Result<T> + 'a>;

/// Runs the contenders in turn, this many rounds and one more that is not counted. Each round
/// begins with another of them.
pub(crate) fn interleave<const N: usize>(
    rounds: usize,
    contenders: [Contender<'_>; N],
) -> Result<[Samples; N]> {
    Ok(interleave_all(rounds, contenders)?.map(Samples))
}

/// The same for contenders that answer several figures at once.
pub(crate) fn interleave_all<T, const N: usize>(
    rounds: usize,
    mut contenders: [Contender<'_, T>; N],
) -> Result<[Vec<T>; N]> {
    let mut answers = [const { Vec::new() }; N];
    for contender in &mut contenders {
        contender()?;
    }
    for round in 0..rounds {
        for turn in 0..N {
            let at = (round + turn) % N;
            answers[at].push(contenders[at]()?);
        }
    }
    Ok(answers)
}

/// Nanoseconds of each of so many.
pub(crate) fn ns_each(elapsed: Duration, times: u32) -> f64 {
    elapsed.as_nanos() as f64 / f64::from(times)
}
