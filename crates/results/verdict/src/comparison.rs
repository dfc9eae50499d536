//! What a comparison of measurements concludes.

use measure::{Kind, NotMeasured, Subject, Unit};
use serde::{Deserialize, Serialize};

/// One Kernel against others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Which kind of figures it is about.
    pub kind: Kind,
    /// What the others are compared with.
    pub base: Subject,
    /// The others.
    pub others: Vec<Against>,
    /// How this machine does when a kernel is compared with itself, if that was tried: timed figures only.
    pub noise: Option<Noise>,
    /// Worth knowing, a line each.
    pub notes: Vec<String>,
}

/// One Kernel against the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The Kernel.
    pub subject: Subject,
    /// The worst first.
    pub rows: Vec<Row>,
    /// What could not be measured on both.
    pub missing: Vec<Missing>,
    /// How the runs ended, if an experiment ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
}

/// How the runs of an experiment ended on the base and on the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// On the base.
    pub base: Ended,
    /// On the other.
    pub new: Ended,
    /// The probability that chance alone makes the one fail so much more often than the other, adjusted for the number of
    /// looks and metrics; nothing if they fail equally often.
    pub p: Option<f64>,
    /// Whether the other fails more often.
    pub verdict: Verdict,
}

/// How the runs of an experiment ended on a Kernel. What was skipped or broke says nothing and is not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Runs that passed.
    pub pass: u32,
    /// Runs that failed.
    pub fail: u32,
    /// Runs in which the kernel crashed.
    pub crash: u32,
    /// Runs in which it hung.
    pub hang: u32,
    /// Why the first run that did not pass did not.
    pub reason: Option<String>,
}

impl Ended {
    /// Runs that did not pass.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.fail + self.crash + self.hang
    }

    /// All runs.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.pass + self.failures()
    }
}

impl Runs {
    /// Whether each run failed on the other, and none on the base.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.base.failures() == 0 && self.base.pass > 0 && self.new.pass == 0 && self.new.failures() > 0
    }
}

/// How many metrics came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The other costs more.
    pub worse: usize,
    /// The other costs less.
    pub better: usize,
    /// Equal, or closer than what is of interest.
    pub same: usize,
    /// Not known.
    pub undecided: usize,
    /// Not measured on both.
    pub missing: usize,
}

impl Against {
    /// All verdicts: those on the metrics, and that on the ends of the runs.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + '_ {
        self.rows.iter().map(|row| row.verdict).chain(self.runs.iter().map(|runs| runs.verdict))
    }

    /// How many metrics came to what.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let count = |verdict| self.rows.iter().filter(|row| row.verdict == verdict).count();
        Totals {
            worse: count(Verdict::Worse),
            better: count(Verdict::Better),
            same: count(Verdict::Same),
            undecided: count(Verdict::Undecided),
            missing: self.missing.len(),
        }
    }
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub metric: String,
    /// One line on what is measured.
    pub about: String,
    /// The unit; less is better, unless it says otherwise.
    pub unit: Unit,
    /// The base.
    pub base: Side,
    /// The other.
    pub new: Side,
    /// The other less the base, in the unit: of the medians, or for timed figures the Hodges-Lehmann shift.
    pub difference: f64,
    /// The same in percent of the size of the base; nothing where that is 0.
    pub percent: Option<f64>,
    /// Where the true difference lies with the confidence of the comparison, in percent: sampled figures only.
    pub interval: Option<(f64, f64)>,
    /// The probability that chance alone speaks for worse or better like this, adjusted for the number of looks and
    /// metrics: of timed figures whose interval does so, and of counted ones where [`Ground::Boots`] decides.
    pub p: Option<f64>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Whether its boots gave the same figure: only of exact figures, and of two boots or more of each Kernel.
    #[serde(default)]
    pub steadiness: Option<Steadiness>,
    /// Why worse or better is no chance: exact figures only.
    #[serde(default)]
    pub ground: Option<Ground>,
    /// The functions that did it, if somebody asked.
    pub why: Option<Why>,
}

/// The figures of one Kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The smallest of all repetitions of all boots.
    pub min: f64,
    /// The median of the boots' medians.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// The median of each boot.
    pub boots: Vec<f64>,
    /// Instructions outside and inside the kernel, where they were counted apart.
    pub apart: Option<(u64, u64)>,
}

/// What a comparison concludes about a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The other costs more.
    Worse,
    /// It is not known, and more samples might tell.
    Undecided,
    /// The other costs less.
    Better,
    /// They are equal, or closer than what is of interest.
    Same,
}

/// The two kinds of counted metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// All boots of a Kernel gave the same figure, on both Kernels.
    Constant,
    /// They did not: the figure depends on what a Kernel draws at random in each boot.
    Varying,
}

/// Why a difference of counted figures is no chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ground {
    /// It comes from functions whose code is not the same on both Kernels.
    Code,
    /// It is far larger than what boots of one Kernel differ by.
    Size,
    /// So many boots are on one side of those of the other Kernel that chance seldom does it.
    Boots,
    /// The operation in which the event happens costs more or less for certain.
    Operation,
}

/// A metric that only one of them has, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its name.
    pub metric: String,
    /// Why the base has none.
    pub base: Option<NotMeasured>,
    /// Why the other has none.
    pub new: Option<NotMeasured>,
}

/// The functions that make a difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// The largest change first.
    pub functions: Vec<Change>,
    /// Their changes together, in instructions of one operation.
    pub explained: i64,
    /// What the measurement without the plugin says beyond that.
    pub unexplained: i64,
    /// Folded stacks with their instructions on the base and on the other, for a differential flame graph.
    pub stacks: Vec<(String, u64, u64)>,
}

/// A function whose part changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its symbol.
    pub function: String,
    /// Instructions of one operation on the base; nothing where it was not entered.
    pub base: Option<u64>,
    /// The same on the other.
    pub new: Option<u64>,
}

impl Change {
    /// The new less the base, in instructions.
    #[must_use]
    pub fn difference(&self) -> i64 {
        let signed = |instructions: Option<u64>| i64::try_from(instructions.unwrap_or(0)).unwrap_or(i64::MAX);
        signed(self.new).saturating_sub(signed(self.base))
    }
}

/// What comparisons of a kernel with itself gave on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// When that was tried.
    pub measured: jiff::Timestamp,
    /// Differences that it takes for real although there are none, as a fraction of 1.
    pub false_alarms: f64,
    /// Of how many metrics and comparisons together.
    pub comparisons: u32,
    /// The difference that 95 % of them stayed below, in percent.
    pub floor: f64,
}
