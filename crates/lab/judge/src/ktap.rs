//! Reads results of tests in KTAP, as real kernels and their tests print it.
//!
//! * [`Reader`]: takes lines as they come, gives [`Results`]
//! * [`tree`]: levels, tests and their status
//! * [`problem`]: what contradicts itself, beside the tree
//! * `line`, `words`: one line; `result`: a result line
//! * `cut`: lines into which printk wrote
//! * `stream`: the levels that are open; `level`: one of them
//!
//! The format is `Documentation/dev-tools/ktap.rst`, version 1, and what is printed beside it: TAP 13 and
//! 14, the four blanks and `# Subtest:` of KUnit, the runner of kselftest, which puts `# ` before all
//! that a test prints, `kselftest.h` and `kselftest_harness.h`.
//!
//! Depth is told by indentation. The result of a test closes the level below it. What the kernel itself
//! printed (a line with a time stamp) and what a program printed are two texts on one console: results of
//! the one never become results of the other. Lines that are no results are the log of the test in
//! progress and are never judged.
//!
//! When the text ends early, what was finished is kept, the test in progress is [`Status::Unfinished`],
//! and planned tests without a result are counted. A `not ok` never becomes a pass: where two lines were
//! mixed, the worse reading is taken or the doubt is a [`Problem`].
//!
//! The text is hostile: time is linear in its length; depth, tests, logs and problems are bounded.

mod budget;
mod cut;
mod level;
mod line;
pub mod problem;
mod reader;
mod result;
mod stream;
pub mod tree;
mod words;

pub use problem::{Problem, What};
pub use reader::Reader;
pub use tree::{Counts, Level, Plan, Results, Status, Test, Version};
pub(crate) use words::diagnostic;

/// Bytes that are read of a line at most.
pub const LINE_BYTES_MAX: usize = 2048;
/// Levels below each other at most; deeper ones are log.
pub const DEPTH_MAX: usize = 16;
/// Tests that are kept at most; later failures are still counted.
pub const TESTS_MAX: usize = 100_000;
/// Lines of log that one test keeps at most, the first.
pub const LOG_LINES_MAX: usize = 400;
/// Bytes of log that all tests keep together at most.
pub const LOG_BYTES_MAX: usize = 4 << 20;
/// Problems that are kept at most.
pub const PROBLEMS_MAX: usize = 1000;

/// Reads a whole text.
#[must_use]
pub fn read(text: &str) -> Results {
    let mut reader = Reader::default();
    text.lines().for_each(|line| reader.line(line));
    reader.finish()
}

#[cfg(test)]
mod tests;
