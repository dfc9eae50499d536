//! What a case is.

use std::time::Duration;

use harness::check::Checked;
use race::races::Known;

pub use protocol::Need;

/// One test: what it shows, what it needs and how it is done.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `area/what-it-shows`.
    pub name: &'static str,
    /// One line on what it verifies.
    pub about: &'static str,
    /// Without these it is skipped.
    pub needs: &'static [Need],
    /// It is ended after this time of an unloaded machine.
    pub limit: Duration,
    /// Reports in the kernel log that contain one of these texts are wanted.
    pub expects: &'static [&'static str],
    /// Runs before the body, in the same process; its failure says nothing about the kernel.
    pub setup: Option<fn() -> Checked>,
    /// The test itself.
    pub body: Body,
    /// Runs after the body whatever happened, in a process of its own.
    pub cleanup: Option<fn() -> Checked>,
}

/// What a case does.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// A function that checks.
    Function(fn() -> Checked),
    /// A race that the kernel must survive.
    Race(&'static Known),
}

impl Body {
    /// Does it.
    ///
    /// # Errors
    ///
    /// What did not hold, or why it could not be done.
    pub fn run(self) -> Checked {
        match self {
            Self::Function(function) => function(),
            Self::Race(race) => race.check(),
        }
    }
}

impl Case {
    /// A case with no needs and ten seconds.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str, body: fn() -> Checked) -> Self {
        Self::of(name, about, Body::Function(body))
    }

    pub(crate) const fn of(name: &'static str, about: &'static str, body: Body) -> Self {
        let limit = Duration::from_secs(10);
        Self { name, about, needs: &[], limit, expects: &[], setup: None, body, cleanup: None }
    }

    /// What it cannot do without.
    #[must_use]
    pub const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// Its time limit in seconds.
    #[must_use]
    pub const fn limit(self, seconds: u64) -> Self {
        Self { limit: Duration::from_secs(seconds), ..self }
    }

    /// Kernel reports that it provokes on purpose.
    #[must_use]
    pub const fn expects(self, expects: &'static [&'static str]) -> Self {
        Self { expects, ..self }
    }

    /// What must be there before the body can start.
    #[must_use]
    pub const fn setup(self, setup: fn() -> Checked) -> Self {
        Self { setup: Some(setup), ..self }
    }

    /// What must be undone outside the case's own directory and processes.
    #[must_use]
    pub const fn cleanup(self, cleanup: fn() -> Checked) -> Self {
        Self { cleanup: Some(cleanup), ..self }
    }

    /// The part of the name before the slash.
    #[must_use]
    pub fn area(&self) -> &'static str {
        self.name.split('/').next().unwrap_or(self.name)
    }
}
