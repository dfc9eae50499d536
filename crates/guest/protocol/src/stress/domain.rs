//! Which values an option takes.

use serde::{Deserialize, Serialize};

use super::Extreme;

/// The values of an option. A value is a number: of bytes for a size, the place in the list for a choice, 0 or 1 for a
/// flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain<Choices = Vec<String>> {
    /// A number.
    Number {
        /// The lowest.
        minimum: u64,
        /// The highest.
        maximum: u64,
        /// Unless something else is said.
        default: u64,
    },
    /// A number of bytes: `64M`, or a share of the machine's memory, `25%`, as far as the range goes.
    Size {
        /// The lowest, in bytes.
        minimum: u64,
        /// The highest, in bytes.
        maximum: u64,
        /// Unless something else is said, in bytes.
        default: u64,
    },
    /// One of several; the first unless something else is said.
    Choice(Choices),
    /// On or off; off unless something else is said.
    Flag,
}

/// The units of a size, and what each is in bytes as a power of two.
const UNITS: [(char, u32); 4] = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];

/// Why a text is no value of a domain.
pub type WrongValue = String;

impl<Choices> Domain<Choices> {
    /// The value that `text` stands for, on a machine with this much `memory` in bytes.
    ///
    /// # Errors
    ///
    /// What is allowed instead.
    pub fn parse<Choice: AsRef<str>>(&self, text: &str, memory: u64) -> Result<u64, WrongValue>
    where
        Choices: AsRef<[Choice]>,
    {
        match self {
            &Self::Number { minimum, maximum, .. } => text
                .parse()
                .ok()
                .filter(|value| (minimum..=maximum).contains(value))
                .ok_or_else(|| format!("{text:?} is not a number from {minimum} to {maximum}")),
            &Self::Size { minimum, maximum, .. } => match (share(text), bytes(text)) {
                (Some(share), _) => Ok(part(memory, share).clamp(minimum, maximum)),
                (None, Some(value)) if (minimum..=maximum).contains(&value) => Ok(value),
                _ => Err(format!("{text:?} is not a size from {} to {}", size(minimum), size(maximum))),
            },
            Self::Choice(choices) => {
                let position = choices.as_ref().iter().position(|choice| choice.as_ref() == text);
                position.map(|at| at as u64).ok_or_else(|| {
                    let all: Vec<&str> = choices.as_ref().iter().map(AsRef::as_ref).collect();
                    format!("{text:?} is not one of {}", all.join(", "))
                })
            }
            Self::Flag => match text {
                "" | "on" | "true" | "yes" | "1" => Ok(1),
                "off" | "false" | "no" | "0" => Ok(0),
                _ => Err(format!("{text:?} is neither on nor off")),
            },
        }
    }

    /// Its value where nothing is said.
    pub fn default_value(&self) -> u64 {
        match self {
            Self::Number { default, .. } | Self::Size { default, .. } => *default,
            Self::Choice(_) | Self::Flag => 0,
        }
    }

    /// Its value at an end of the range; a choice has no ends.
    pub fn extreme(&self, extreme: Extreme) -> u64 {
        match (self, extreme) {
            (Self::Number { minimum, .. } | Self::Size { minimum, .. }, Extreme::Minimize) => *minimum,
            (Self::Number { maximum, .. } | Self::Size { maximum, .. }, Extreme::Maximize) => *maximum,
            (Self::Flag, Extreme::Maximize) => 1,
            (Self::Choice(_) | Self::Flag, _) => 0,
        }
    }

    /// How a user writes `value`; [`Domain::parse`] reads it back.
    pub fn text<Choice: AsRef<str>>(&self, value: u64) -> String
    where
        Choices: AsRef<[Choice]>,
    {
        match self {
            Self::Number { .. } => value.to_string(),
            Self::Size { .. } => size(value),
            Self::Choice(choices) => {
                let choice = usize::try_from(value).ok().and_then(|at| choices.as_ref().get(at));
                choice.map(|choice| choice.as_ref().to_string()).unwrap_or_default()
            }
            Self::Flag => if value == 0 { "off" } else { "on" }.to_string(),
        }
    }
}

/// Reads `25%`.
fn share(text: &str) -> Option<u64> {
    text.strip_suffix('%')?.parse().ok().filter(|share| *share <= 100)
}

fn part(whole: u64, share: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(share) / 100).unwrap_or(u64::MAX)
}

/// Reads `4096`, `64k`, `1G`.
fn bytes(text: &str) -> Option<u64> {
    let Some(number) = text.strip_suffix(|c: char| !c.is_ascii_digit()) else { return text.parse().ok() };
    let unit = text.chars().next_back()?.to_ascii_lowercase();
    let (_, power) = UNITS.into_iter().find(|(letter, _)| *letter == unit)?;
    number.parse::<u64>().ok()?.checked_mul(1 << power)
}

/// A number of bytes with the largest unit in which it is a whole number.
fn size(bytes: u64) -> String {
    let fits = |power: &u32| bytes > 0 && bytes.is_multiple_of(1 << *power);
    match UNITS.iter().rfind(|(_, power)| fits(power)) {
        Some((letter, power)) => format!("{}{}", bytes >> power, letter.to_ascii_uppercase()),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MEMORY: u64 = 8 << 30;

    fn domains() -> [Domain; 4] {
        [
            Domain::Number { minimum: 1, maximum: 99, default: 5 },
            Domain::Size { minimum: 0, maximum: u64::MAX, default: 4096 },
            Domain::Choice(vec!["all".to_string(), "inc".to_string()]),
            Domain::Flag,
        ]
    }

    #[test]
    fn values_are_read_as_users_write_them() {
        let [number, size, choice, flag] = domains();
        let read = |domain: &Domain, text: &str| domain.parse(text, MEMORY).ok();
        assert_eq!(
            ["1", "99", "0", "100", "-1", "x"].map(|text| read(&number, text)),
            [Some(1), Some(99), None, None, None, None]
        );
        assert_eq!(
            ["17", "4k", "1M", "2g", "25%", "101%", "%", "G", "", "1Q", "99999999T"]
                .map(|text| read(&size, text)),
            [
                Some(17),
                Some(4 << 10),
                Some(1 << 20),
                Some(2 << 30),
                Some(2 << 30),
                None,
                None,
                None,
                None,
                None,
                None
            ]
        );
        assert_eq!(["all", "inc", "other"].map(|text| read(&choice, text)), [Some(0), Some(1), None]);
        assert_eq!(
            ["", "on", "off", "maybe"].map(|text| read(&flag, text)),
            [Some(1), Some(1), Some(0), None]
        );
    }

    #[test]
    fn a_wrong_value_says_what_is_allowed() {
        let [number, size, choice, flag] = domains();
        let wrong = |domain: &Domain, text: &str| domain.parse(text, MEMORY).unwrap_err();
        assert_eq!(wrong(&number, "0"), "\"0\" is not a number from 1 to 99");
        assert_eq!(wrong(&size, "1Q"), "\"1Q\" is not a size from 0 to 18446744073709551615");
        assert_eq!(wrong(&choice, "dec"), "\"dec\" is not one of all, inc");
        assert_eq!(wrong(&flag, "maybe"), "\"maybe\" is neither on nor off");
    }

    #[test]
    fn a_share_stays_in_the_range() {
        let size: Domain = Domain::Size { minimum: 4096, maximum: 1 << 30, default: 4096 };
        assert_eq!(
            ["0%", "5%", "100%"].map(|text| size.parse(text, MEMORY)),
            [Ok(4096), Ok(429_496_729), Ok(1 << 30)]
        );
    }

    #[test]
    fn the_ends_of_a_range_are_values_of_it() {
        for domain in domains() {
            for value in
                [domain.default_value(), domain.extreme(Extreme::Minimize), domain.extreme(Extreme::Maximize)]
            {
                assert_eq!(domain.parse(&domain.text(value), MEMORY), Ok(value), "{domain:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text: String, memory: u64) {
            for domain in domains() {
                let _ = domain.parse(&text, memory);
            }
        }

        #[test]
        fn what_is_written_is_read(value: u64) {
            let [_, size, ..] = domains();
            prop_assert_eq!(size.parse(&size.text(value), MEMORY), Ok(value));
        }

        #[test]
        fn any_value_has_a_text(value: u64) {
            for domain in domains() {
                let _ = domain.text(value);
            }
        }
    }
}
