//! What can be set of a stressor, and what it measures.

use std::ops::RangeInclusive;

use protocol::stress::{Domain, RateName, StressorOption};

/// An option of a stressor.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Without the name of the stressor.
    pub name: &'static str,
    /// What it sets, in one line.
    pub about: &'static str,
    /// Which values it takes.
    pub domain: Domain<&'static [&'static str]>,
}

impl Setting {
    /// The same for the host.
    #[must_use]
    pub fn described(&self) -> StressorOption {
        let domain = match self.domain {
            Domain::Number { minimum, maximum, default } => Domain::Number { minimum, maximum, default },
            Domain::Size { minimum, maximum, default } => Domain::Size { minimum, maximum, default },
            Domain::Choice(choices) => Domain::Choice(choices.iter().copied().map(str::to_string).collect()),
            Domain::Flag => Domain::Flag,
        };
        StressorOption { name: self.name.to_string(), about: self.about.to_string(), domain }
    }
}

/// An option that is a number.
#[must_use]
pub const fn number(
    name: &'static str,
    about: &'static str,
    range: RangeInclusive<u64>,
    default: u64,
) -> Setting {
    let (minimum, maximum) = (*range.start(), *range.end());
    Setting { name, about, domain: Domain::Number { minimum, maximum, default } }
}

/// An option that is a number of bytes.
#[must_use]
pub const fn size(
    name: &'static str,
    about: &'static str,
    range: RangeInclusive<u64>,
    default: u64,
) -> Setting {
    let (minimum, maximum) = (*range.start(), *range.end());
    Setting { name, about, domain: Domain::Size { minimum, maximum, default } }
}

/// An option that is one of `choices`, the first unless something else is said.
#[must_use]
pub const fn choice(name: &'static str, about: &'static str, choices: &'static [&'static str]) -> Setting {
    Setting { name, about, domain: Domain::Choice(choices) }
}

/// An option that is on or off.
#[must_use]
pub const fn flag(name: &'static str, about: &'static str) -> Setting {
    Setting { name, about, domain: Domain::Flag }
}

/// A figure that a stressor measures beside its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// What it is of.
    pub name: &'static str,
    /// Its unit, such as `MB/s`.
    pub unit: &'static str,
    /// The option that asks for a value of it; 0 asks for none.
    pub asked_by: Option<&'static str>,
}

impl Figure {
    /// A figure of `name` in `unit`.
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, asked_by: None }
    }

    /// The same, if `setting` asks for a value of it.
    #[must_use]
    pub const fn asked_by(self, setting: &Setting) -> Self {
        Self { asked_by: Some(setting.name), ..self }
    }

    /// The same for the host.
    #[must_use]
    pub fn described(&self) -> RateName {
        RateName { name: self.name.to_string(), unit: self.unit.to_string() }
    }
}
