//! What a Run can conclude, and whose fault it is.

use serde::{Deserialize, Serialize};

/// How a Run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The case did all that it promised.
    Pass,
    /// The kernel behaved wrongly or reported a defect of its own.
    Fail,
    /// The kernel died.
    Crash,
    /// The kernel, or the case in it, stopped answering.
    Hang,
    /// What the case needs is not there.
    Skip,
    /// Somebody other than the kernel failed: it says nothing about the kernel.
    Broken,
}

impl Outcome {
    /// All, the worst first.
    pub const ALL: [Self; 6] = [Self::Crash, Self::Hang, Self::Fail, Self::Broken, Self::Skip, Self::Pass];

    /// Its name in output and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Skip => "skip",
            Self::Broken => "broken",
        }
    }

    /// The Outcome of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// The exit code of a session with this Outcome alone.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail | Self::Crash | Self::Hang => 1,
            Self::Broken => 3,
            Self::Skip => 4,
        }
    }

    /// Whether there is nothing to look into.
    #[must_use]
    pub fn is_well(self) -> bool {
        matches!(self, Self::Pass | Self::Skip)
    }

    /// Whether something failed that should work.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Hang)
    }
}

/// Whom a failure accuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accused {
    /// The kernel died, stopped answering, reported a defect or failed a test of it.
    Kernel,
    /// The program failed, or a program, test or case did not end; the kernel answers and reported nothing.
    Program,
}

impl Accused {
    /// Its name in output and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Program => "program",
        }
    }
}

/// Who broke a Run whose Outcome is [`Outcome::Broken`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// The case: its set-up, its clean-up, its silence or what it did to the machine.
    Case,
    /// QEMU or UML.
    Machine,
    /// The host: memory, disk, a missing program.
    Host,
    /// kiln or its agent.
    Kiln,
}

impl Blame {
    /// Its name in output and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Machine => "machine",
            Self::Host => "host",
            Self::Kiln => "kiln",
        }
    }
}
