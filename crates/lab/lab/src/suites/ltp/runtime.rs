//! How long tests go on, compared with what they say: LTP's own variable, which its runners hand on to every test.

use std::ops::RangeInclusive;

use super::{Error, ExternalCase};

/// "Runtime multiplier", as LTP's library explains it.
const VARIABLE: &str = "LTP_RUNTIME_MUL";

/// What LTP's library takes; with another value each test ends as broken.
const ALLOWED: RangeInclusive<f64> = 0.01..=100.0;

/// The user's factor; none is LTP's default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RuntimeFactor(Option<f64>);

impl RuntimeFactor {
    /// The factor of kiln's own environment.
    pub(super) fn of_environment() -> Result<Self, Error> {
        let value = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        value.map_or(Ok(Self(None)), |value| Self::parse(&value))
    }

    pub(super) fn parse(value: &str) -> Result<Self, Error> {
        let wrong = || Error::RuntimeFactor {
            value: value.to_string(),
            least: *ALLOWED.start(),
            most: *ALLOWED.end(),
        };
        let factor = value.parse().ok().filter(|factor| ALLOWED.contains(factor)).ok_or_else(wrong)?;
        Ok(Self(Some(factor)))
    }

    /// Gives it to a test, and to what is expected of that.
    pub(super) fn apply(self, case: &mut ExternalCase) {
        let Some(factor) = self.0 else { return };
        case.runtime = case.runtime.map(|runtime| runtime.mul_f64(factor));
        case.command.environment.push((VARIABLE.to_string(), factor.to_string()));
    }
}
