//! What a script concludes.

use judge::{Blame, Outcome};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// What a script concludes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// How the case ended.
    pub outcome: Outcome,
    /// Who broke, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blame>,
    /// The step that did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Why it did not pass, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Box<Problem>>,
}

impl Verdict {
    /// All steps passed.
    #[must_use]
    pub fn pass() -> Self {
        Self { outcome: Outcome::Pass, blame: None, step: None, problem: None }
    }

    /// Somebody broke before or beside the steps.
    #[must_use]
    pub fn broken(blame: Blame, problem: Problem) -> Self {
        Self { outcome: Outcome::Broken, blame: Some(blame), step: None, problem: Some(Box::new(problem)) }
    }

    /// Whether the same script would say something else if it ran again: what broke says nothing about the kernel.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.outcome != Outcome::Broken
    }
}
