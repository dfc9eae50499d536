//! The code of a function, as far as it was executed: whether two Kernels have the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// Longest instruction of x86, in bytes.
const SIZE_MAX: u8 = 15;

/// Digits of the sizes in the text, of which each stands for one.
const RADIX: u32 = 16;

/// Instructions of a function: of each its distance from the function's beginning, and its size, both in bytes.
///
/// As text, `0:513,2a:2` are instructions of 5, 1 and 3 bytes one behind the other, and one of 2 bytes at 0x2a.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Code {
    sizes: BTreeMap<u32, u8>,
    /// Different instructions were seen at one place: several functions have the name, or it was patched.
    is_unclear: bool,
}

/// What is not the text of code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a list of instructions, such as 0:513,2a:2")]
pub struct BadCode(String);

impl Code {
    /// Adds an instruction of 1 to 15 bytes; none has another size.
    pub fn add(&mut self, offset: u32, size: u8) {
        if !(1..=SIZE_MAX).contains(&size) || self.is_unclear {
            return;
        }
        if self.contradicts(offset, size) {
            *self = Self { sizes: BTreeMap::new(), is_unclear: true };
        } else {
            self.sizes.insert(offset, size);
        }
    }

    /// Adds all instructions of `other`, which is of the same Kernel.
    pub fn merge(&mut self, other: &Self) {
        other.sizes.iter().for_each(|(&offset, &size)| self.add(offset, size));
        if other.is_unclear {
            *self = other.clone();
        }
    }

    /// Whether the two are certainly not the same function: where both were executed, instructions begin at other places
    /// or have other sizes. A change that keeps all sizes is not seen, and unclear code differs from none.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        self.sizes.iter().any(|(&offset, &size)| other.contradicts(offset, size))
    }

    /// Whether an instruction here overlaps with another one.
    fn contradicts(&self, offset: u32, size: u8) -> bool {
        let end = offset.saturating_add(size.into());
        let before = self.sizes.range(..offset).next_back();
        before.is_some_and(|(&start, &size)| start.saturating_add(size.into()) > offset)
            || self.sizes.range(offset..end).any(|other| other != (&offset, &size))
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        if code.is_unclear {
            return "unclear".to_string();
        }
        let mut text = Self::new();
        let mut end = None;
        for (&offset, &size) in &code.sizes {
            if end != Some(offset) {
                let comma = if text.is_empty() { "" } else { "," };
                // Writing to a String does not fail.
                let _ = write!(text, "{comma}{offset:x}:");
            }
            text.extend(char::from_digit(size.into(), RADIX));
            end = Some(offset.saturating_add(size.into()));
        }
        text
    }
}

impl TryFrom<String> for Code {
    type Error = BadCode;

    fn try_from(text: String) -> Result<Self, BadCode> {
        if text == "unclear" {
            return Ok(Self { is_unclear: true, ..Self::default() });
        }
        let mut code = Self::default();
        for run in text.split(',').filter(|run| !run.is_empty()) {
            code.add_run(run).ok_or_else(|| BadCode(text.chars().take(80).collect()))?;
        }
        Ok(code)
    }
}

impl Code {
    /// Adds `2a:213`.
    fn add_run(&mut self, run: &str) -> Option<()> {
        let (start, sizes) = run.split_once(':')?;
        let mut offset = u32::from_str_radix(start, RADIX).ok()?;
        for digit in sizes.chars() {
            let size = u8::try_from(digit.to_digit(RADIX)?).ok()?;
            self.add(offset, size);
            offset = offset.checked_add(size.into())?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(text: &str) -> Code {
        Code::try_from(text.to_string()).unwrap()
    }

    #[test]
    fn the_same_code_does_not_differ_whatever_was_executed_of_it() {
        let whole = code("0:5132,b:24");
        for part in ["", "0:51", "5:1", "b:2", "0:5132,b:24", "40:7"] {
            assert!(!whole.differs(&code(part)) && !code(part).differs(&whole), "{part}");
        }
    }

    #[test]
    fn other_sizes_and_places_are_other_code() {
        let whole = code("0:5132,b:24");
        for other in ["0:4", "0:52", "6:2", "4:1", "c:3", "a:1"] {
            assert!(whole.differs(&code(other)) && code(other).differs(&whole), "{other}");
        }
    }

    #[test]
    fn two_functions_of_one_name_say_nothing() {
        let mut unclear = code("0:51");
        unclear.merge(&code("0:4"));
        assert_eq!(String::from(unclear.clone()), "unclear");
        assert!(!unclear.differs(&code("0:9")) && !code("0:9").differs(&unclear));
        let mut merged = code("0:51");
        merged.merge(&unclear);
        assert_eq!(merged, unclear);
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for text in ["x", "0", "0:g", "z:1", "ffffffff:f"] {
            let error = serde_json::from_value::<Code>(text.into()).unwrap_err();
            assert!(error.to_string().contains("not a list of instructions"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn text_is_read_back(instructions in prop::collection::vec((0..200_u32, 0..20_u8), 0..40)) {
            let mut code = Code::default();
            instructions.into_iter().for_each(|(offset, size)| code.add(offset, size));
            let text = serde_json::to_string(&code).unwrap();
            prop_assert_eq!(serde_json::from_str::<Code>(&text).unwrap(), code);
        }
    }
}
