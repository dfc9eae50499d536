//! What does not fit together in a text.

use thiserror::Error;

/// Something that contradicts itself or the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line where it was noticed, counted from 0.
    pub line: u64,
    /// What it is.
    pub what: What,
}

/// The kinds of problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum What {
    /// A version that nobody has described.
    #[error("version {0} of the format is not known")]
    Version(u64),
    /// A second plan on the same level; the first one counts.
    #[error("a second plan, of {0} tests")]
    SecondPlan(u64),
    /// A number that is not the next one: a result was lost or comes twice.
    #[error("test {found} where {expected} was expected")]
    Number {
        /// The next number.
        expected: u64,
        /// What stood there.
        found: u64,
    },
    /// More results than planned.
    #[error("more results than the {0} planned")]
    Surplus(u64),
    /// Fewer results than planned.
    #[error("{found} of {planned} planned results in {name:?}")]
    Missing {
        /// The test whose plan it was; empty for a whole text.
        name: String,
        /// The plan.
        planned: u64,
        /// Results.
        found: u64,
    },
    /// A test that is `ok` although a test in it is not.
    #[error("{0:?} is ok, but a test in it is not")]
    Contradiction(String),
    /// Nested results whose own test has no result.
    #[error("{0:?} has no result of its own")]
    NoResult(String),
    /// `ok` with a directive that means the opposite.
    #[error("{0:?} is ok, but says that it was not")]
    Directive(String),
    /// Totals with more failures than were seen.
    #[error("{announced} failures in the totals, {seen} were seen")]
    Totals {
        /// In the totals.
        announced: u64,
        /// In the results.
        seen: u64,
    },
    /// A result that may be the end of another line, for instance of a `not ok`.
    #[error("{0:?} may be the rest of a line that was mixed with another")]
    Doubtful(String),
    /// A line into which another was written and whose end is lost.
    #[error("{0:?} was cut by another line")]
    Cut(String),
    /// Deeper than [`super::DEPTH_MAX`]: read as log.
    #[error("nested too deeply")]
    TooDeep,
    /// More than [`super::TESTS_MAX`] tests.
    #[error("too many tests")]
    TooMany,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line.saturating_add(1), self.what)
    }
}
