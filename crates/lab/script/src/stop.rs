//! Why a script stops where it is.

use judge::{Blame, Outcome};

use crate::problem::Problem;
use crate::trouble::{ErrorName, Trouble};

/// Why a script stops, before it is known where.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Stop {
    pub(crate) outcome: Outcome,
    pub(crate) blame: Option<Blame>,
    pub(crate) text: String,
    pub(crate) help: Option<String>,
    /// Variables at hand.
    pub(crate) values: Vec<(String, String)>,
    /// What a machine said of it.
    pub(crate) evidence: Vec<String>,
    /// Where it happened, if that is elsewhere: in a branch.
    pub(crate) problem: Option<Box<Problem>>,
}

impl Stop {
    fn new(outcome: Outcome, blame: Option<Blame>, text: impl Into<String>) -> Self {
        Self {
            outcome,
            blame,
            text: text.into(),
            help: None,
            values: Vec::new(),
            evidence: Vec::new(),
            problem: None,
        }
    }

    /// The script is wrong.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(Outcome::Broken, Some(Blame::Case), text)
    }

    /// Somebody else broke.
    pub(crate) fn broken(blame: Blame, text: impl Into<String>) -> Self {
        Self::new(Outcome::Broken, Some(blame), text)
    }

    /// The script uses too much.
    pub(crate) fn limit(text: impl Into<String>) -> Self {
        Self::usage(text)
    }

    /// What the script expects does not hold.
    pub(crate) fn unexpected(text: impl Into<String>) -> Self {
        Self::new(Outcome::Fail, None, text)
    }

    /// The script says that something is missing.
    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Self::new(Outcome::Skip, None, reason)
    }

    /// A call went wrong, and the script does not allow this.
    pub(crate) fn trouble(trouble: Trouble) -> Self {
        let evidence = trouble.evidence;
        let stop = Self { evidence, ..Self::new(trouble.name.outcome(), trouble.blame, trouble.text) };
        match trouble.name {
            ErrorName::Broken | ErrorName::Missing => stop,
            name => stop.help(format!("if this may happen, allow it: allow = [\"{name}\"]")),
        }
    }

    /// The same of a branch, where it is already known where.
    pub(crate) fn elsewhere(outcome: Outcome, blame: Option<Blame>, problem: Problem) -> Self {
        let stop = Self::new(outcome, blame, problem.text.clone());
        Self { problem: Some(Box::new(problem)), ..stop }
    }

    /// The same, with what to do.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}
