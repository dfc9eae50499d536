//! What all levels of a text share: where it is, and how much may still be kept.

use super::problem::{Problem, What};
use super::{LOG_BYTES_MAX, LOG_LINES_MAX, PROBLEMS_MAX, TESTS_MAX};

/// Counts what is kept.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// Number of the line that is being read.
    pub(super) line: u64,
    pub(super) problems: Vec<Problem>,
    pub(super) lost_failures: u64,
    tests: usize,
    log_bytes: usize,
}

impl Budget {
    /// Remembers a problem of this line.
    pub(super) fn problem(&mut self, what: What) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem { line: self.line, what });
        }
    }

    /// Whether one more test may be kept.
    pub(super) fn admits_test(&mut self, is_failure: bool) -> bool {
        if self.tests < TESTS_MAX {
            self.tests += 1;
            return true;
        }
        if self.tests == TESTS_MAX {
            self.tests += 1;
            self.problem(What::TooMany);
        }
        self.lost_failures += u64::from(is_failure);
        false
    }

    /// Keeps a line of log, if there is room.
    pub(super) fn log(&mut self, log: &mut Vec<String>, line: &str) {
        // An empty line has a price too.
        let price = line.len() + size_of::<String>();
        if log.len() < LOG_LINES_MAX && self.log_bytes + price <= LOG_BYTES_MAX {
            self.log_bytes += price;
            log.push(line.to_string());
        }
    }
}
