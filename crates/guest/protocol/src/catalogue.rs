//! What the programs for guests hold: cases and operations.
//!
//! The host links none of their code. While kiln is built they are started with the argument [`ARGUMENT`] and write
//! this to standard output.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Need;

/// The argument with which a program writes its catalogue in binary form and ends.
pub const ARGUMENT: &str = "--catalogue";

/// All cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cases {
    /// The names of the suites.
    pub suites: Vec<String>,
    /// In the order in which they run.
    pub cases: Vec<Case>,
}

/// A case as its author describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// `area/what-it-shows`.
    pub name: String,
    /// One line on what it verifies.
    pub about: String,
    /// Without these it is skipped.
    pub needs: Vec<Need<String>>,
    /// It is ended after this time of an unloaded machine.
    pub limit: Duration,
    /// It provokes reports in the kernel log that contain one of these texts.
    pub expects: Vec<String>,
    /// The suites that it belongs to.
    pub suites: Vec<String>,
}

/// An operation that is measured, as its author describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// `area/what-is-done`.
    pub name: String,
    /// One line on what one operation is.
    pub about: String,
    /// Without these it is skipped.
    pub needs: Vec<Need<String>>,
    /// It is ended after this time of the guest's clock.
    pub limit: Duration,
}

impl Cases {
    /// The cases of the suite called `name`, in the order in which they run; nothing if there is no such suite.
    #[must_use]
    pub fn suite(&self, name: &str) -> Option<Vec<&Case>> {
        let is_named = |suite: &String| suite == name;
        let in_suite = self.cases.iter().filter(|case| case.suites.iter().any(is_named));
        self.suites.iter().any(is_named).then(|| in_suite.collect())
    }
}
