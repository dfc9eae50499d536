//! What the instrument `race` is asked, and what it reports.
//!
//! A race is two sections of code, A and B, which two threads execute at the same time, round after round. A *delay* says
//! how much later B begins than A: a negative one holds A back.

use serde::{Deserialize, Deserializer, Serialize};

use crate::message::TEXT_MAX;

/// The argument of the instrument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RaceRequest {
    /// The race, such as `fs/xfs-reflink-dio`.
    pub race: String,
    /// How the sections are brought together.
    #[serde(default)]
    pub strategy: Strategy,
    /// It ends after this time, in milliseconds; by default after that which the race has for itself.
    #[serde(default)]
    pub time_ms: Option<u64>,
    /// It ends after so many rounds; by default the number is not limited.
    #[serde(default)]
    pub rounds: Option<u64>,
    /// It ends after so many hits.
    #[serde(default = "one")]
    pub hits: u64,
    /// Where random delays come from: the same seed gives the same ones.
    #[serde(default)]
    pub seed: u64,
    /// The report has the statistics of the sections.
    #[serde(default)]
    pub statistics: bool,
}

fn one() -> u64 {
    1
}

impl RaceRequest {
    /// A race with all that it has by default.
    #[must_use]
    pub fn new(race: &str) -> Self {
        Self {
            race: race.to_string(),
            strategy: Strategy::default(),
            time_ms: None,
            rounds: None,
            hits: one(),
            seed: 0,
            statistics: false,
        }
    }
}

/// How the two sections are brought together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Every other round at the best delay known, the others spread over all delays with which the sections overlap.
    #[default]
    Mixture,
    /// Both sections begin at the same time in each round.
    Aligned,
    /// Random delays, uniform over all with which the sections overlap.
    Uniform,
    /// The same with the golden-ratio sequence, a low-discrepancy sequence.
    LowDiscrepancy,
    /// Two threads in loops, without any alignment.
    Plain,
    /// The algorithm of the Linux Test Project's fuzzy synchronisation library, for comparison.
    Published,
}

/// What a race came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RaceReport {
    /// How the sections were brought together.
    pub strategy: Strategy,
    /// Where random delays came from.
    pub seed: u64,
    /// What ended it.
    pub ended: Ended,
    /// Since its first round, in microseconds.
    pub elapsed_us: u64,
    /// Rounds that were made, with all that follow.
    pub rounds: u64,
    /// Rounds in which the sections collided.
    pub hits: u64,
    /// The first of them.
    pub first_hit: Option<FirstHit>,
    /// The delays of the hits.
    pub hit_delays: Option<Delays>,
    /// Rounds in which B came too early.
    pub early: u64,
    /// Rounds in which B came too late.
    pub late: u64,
    /// Rounds that showed nothing.
    pub useless: u64,
    /// Rounds that were discarded: a thread was preempted in its section, or began it much later than planned.
    pub disturbed: u64,
    /// Rounds that sampled how long the sections take.
    pub sampling: u64,
    /// Their deviation settled before the sampling was ended.
    pub settled: bool,
    /// Which delays were tried, once the lengths of the sections are known.
    pub range: Option<Range>,
    /// Lengths and distances, if they were asked for and once they are known.
    pub statistics: Option<Statistics>,
    /// There is one CPU only, which makes a collision much less likely.
    pub one_cpu: bool,
    /// What measured the delays.
    pub clock: ClockSource,
    /// More about its end, for people; at most [`TEXT_MAX`] bytes.
    #[serde(default, deserialize_with = "bounded")]
    pub detail: Option<String>,
}

/// What ended a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Nothing yet.
    Running,
    /// It had all hits that were wanted.
    Hits,
    /// Its time was over.
    Time,
    /// It had made all its rounds.
    Rounds,
    /// SIGINT or SIGTERM.
    Signal,
    /// A section did not return.
    Hang,
    /// The kernel became tainted: it has reported a defect of its own.
    Taint,
}

/// The first collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FirstHit {
    /// Its round, from 1.
    pub round: u64,
    /// When it was, in microseconds since the first round began.
    pub elapsed_us: u64,
    /// How much later B had begun than A, in nanoseconds; nothing where the sections ran in free loops.
    pub delay_ns: Option<i64>,
}

/// Delays as they were measured, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Delays {
    /// The smallest.
    pub min_ns: i64,
    /// The median of the last ones.
    pub median_ns: i64,
    /// The largest.
    pub max_ns: i64,
}

/// The delays that were tried, and how closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Range {
    /// With this delay B ends as A begins, in nanoseconds.
    pub from_ns: i64,
    /// With this delay B begins as A ends, in nanoseconds.
    pub to_ns: i64,
    /// Equal parts into which the range is divided.
    pub parts: u32,
    /// Parts of them in which at least one round lay.
    pub visited: u32,
    /// Parts in the longest stretch in which no round lay.
    pub widest_gap: u32,
}

impl Range {
    /// The width of a part, in picoseconds: the finest step that it can tell.
    #[must_use]
    pub fn step_ps(&self) -> u64 {
        let width = self.to_ns.abs_diff(self.from_ns);
        u64::try_from(u128::from(width) * 1000 / u128::from(self.parts.max(1))).unwrap_or(u64::MAX)
    }

    /// The share of the range that was covered, in 0 to 1.
    #[must_use]
    pub fn covered(&self) -> f64 {
        f64::from(self.visited.min(self.parts)) / f64::from(self.parts.max(1))
    }
}

/// Lengths and distances of undisturbed rounds that sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Statistics {
    /// How long A takes.
    pub a: Spread,
    /// How long B takes.
    pub b: Spread,
    /// From the start of A to the start of B, less the delay.
    pub starts: Spread,
    /// From the end of B to the end of A.
    pub ends: Spread,
}

/// Where samples lie, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Spread {
    /// Their median.
    pub median_ns: i64,
    /// The median of their absolute deviations from it.
    pub deviation_ns: i64,
}

/// A clock that both threads read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockSource {
    /// The time-stamp counter.
    Tsc,
    /// `CLOCK_MONOTONIC`, where the time-stamp counter cannot be relied on.
    Monotonic,
}

impl RaceReport {
    /// The kernel collided, hung or reported a defect of its own.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.hits > 0 || matches!(self.ended, Ended::Hang | Ended::Taint)
    }
}

/// A text of at most [`TEXT_MAX`] bytes: longer ones are cut.
fn bounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.map(|mut text| {
        text.truncate(text.floor_char_boundary(TEXT_MAX));
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(parts: u32, visited: u32, from_ns: i64, to_ns: i64) -> Range {
        Range { from_ns, to_ns, parts, visited, widest_gap: 0 }
    }

    #[test]
    fn a_range_has_a_step_and_a_covered_share() {
        let range = range(4096, 1024, -5_000, 15_480);
        assert_eq!(range.step_ps(), 5_000);
        assert!((range.covered() - 0.25).abs() < 1e-9);
    }

    #[test]
    fn odd_ranges_of_a_guest_do_no_harm() {
        assert_eq!(range(0, 7, 0, 10).step_ps(), 10_000);
        assert!(range(0, 7, 0, 0).covered() <= 1.0);
        assert_eq!(range(1, 2, i64::MIN, i64::MAX).step_ps(), u64::MAX);
        assert!((range(1, u32::MAX, 0, 0).covered() - 1.0).abs() < 1e-9);
    }
}
