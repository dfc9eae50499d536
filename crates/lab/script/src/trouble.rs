//! What can go wrong with a machine, by name: a script allows it by this name.

use std::fmt;

use judge::{Blame, Outcome};
use serde::{Deserialize, Serialize};

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorName {
    /// A command ended with another status than 0.
    Exit,
    /// A signal ended a command.
    Signal,
    /// What was waited for did not happen in time; the guest answers.
    Timeout,
    /// The kernel refused what it was asked for: a file, a module, a sysctl.
    Refused,
    /// The kernel reported a defect of its own, and goes on.
    Report,
    /// The kernel died.
    Crash,
    /// The kernel stopped answering.
    Hang,
    /// The machine restarted.
    Reboot,
    /// The machine is off or has ended.
    Stopped,
    /// The kernel, the root or the host lacks what this needs.
    Missing,
    /// kiln, QEMU or the host failed. A script cannot allow it: it says nothing about the kernel.
    Broken,
}

impl ErrorName {
    /// All.
    pub const ALL: [Self; 11] = [
        Self::Exit,
        Self::Signal,
        Self::Timeout,
        Self::Refused,
        Self::Report,
        Self::Crash,
        Self::Hang,
        Self::Reboot,
        Self::Stopped,
        Self::Missing,
        Self::Broken,
    ];

    /// Those that a script may allow.
    pub(crate) const ALLOWED: &'static [&'static str] =
        &["exit", "signal", "timeout", "refused", "report", "crash", "hang", "reboot", "stopped", "missing"];

    /// Its name in scripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Report => "report",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Reboot => "reboot",
            Self::Stopped => "stopped",
            Self::Missing => "missing",
            Self::Broken => "broken",
        }
    }

    /// The Outcome of a case that did not allow it.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Exit | Self::Signal | Self::Refused | Self::Report | Self::Stopped => Outcome::Fail,
            // The kernel answers, but the case in it does not.
            Self::Timeout | Self::Hang => Outcome::Hang,
            // A kernel that restarts by itself has died.
            Self::Crash | Self::Reboot => Outcome::Crash,
            Self::Missing => Outcome::Skip,
            Self::Broken => Outcome::Broken,
        }
    }
}

impl fmt::Display for ErrorName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What went wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Trouble {
    /// Its name.
    pub name: ErrorName,
    /// What happened, in words.
    pub text: String,
    /// Who broke, if the name is `broken`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blame>,
    /// What the machine said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

impl Trouble {
    /// Something that is not kiln's fault.
    #[must_use]
    pub fn new(name: ErrorName, text: impl Into<String>) -> Self {
        Self {
            name,
            text: text.into(),
            blame: (name == ErrorName::Broken).then_some(Blame::Kiln),
            evidence: Vec::new(),
        }
    }

    /// Somebody broke.
    #[must_use]
    pub fn broken(blame: Blame, text: impl Into<String>) -> Self {
        Self { name: ErrorName::Broken, text: text.into(), blame: Some(blame), evidence: Vec::new() }
    }

    /// The same, with what the machine said of it.
    #[must_use]
    pub fn with_evidence(self, evidence: Vec<String>) -> Self {
        Self { evidence, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_broke_cannot_be_allowed() {
        for name in ErrorName::ALL {
            assert_eq!(ErrorName::ALLOWED.contains(&name.name()), name != ErrorName::Broken, "{name}");
            assert_eq!(serde_json::to_value(name).unwrap(), name.name());
            assert_ne!(name.outcome(), Outcome::Pass);
        }
    }
}
