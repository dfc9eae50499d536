//! How long tests go on, compared with what they say: LTP's own variable, which its runners hand on to every test.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Error;

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

    /// How long a test goes on then that would go on for this time.
    pub(super) fn scale(self, runtime: Duration) -> Duration {
        runtime.mul_f64(self.0.unwrap_or(1.0))
    }

    /// What tests find in their environment.
    pub(super) fn variable(self) -> Option<(String, String)> {
        Some((VARIABLE.to_string(), self.0?.to_string()))
    }
}
