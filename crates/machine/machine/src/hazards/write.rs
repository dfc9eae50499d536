//! A write to data of the kernel that is watched.

use std::fmt;

use introspect::{Call, Task};
use serde::{Deserialize, Serialize};

/// Characters of the name of a symbol at most: `KSYM_NAME_LEN`.
const NAME_MAX: usize = 512;

/// The furthest place behind the beginning of a variable.
const OFFSET_MAX: u64 = 1 << 30;

/// Data of the kernel: up to eight bytes at a symbol, or behind its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variable {
    /// The symbol.
    pub symbol: String,
    /// How many bytes behind its beginning.
    pub offset: u64,
}

/// A write to data that is watched, and who did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Write {
    /// What was written to, as it was named.
    pub variable: String,
    /// Where that is.
    pub address: u64,
    /// Its value before, as far as it was seen, and after.
    pub before: Option<u64>,
    /// The value that was written.
    pub after: Option<u64>,
    /// The CPU that has written.
    pub cpu: u32,
    /// The calls that led there, the innermost first.
    pub calls: Vec<Call>,
    /// The task on that CPU.
    pub task: Option<Task>,
    /// Further writes to it are not looked at.
    pub is_last: bool,
}

impl Variable {
    /// Reads `SYMBOL` or `SYMBOL+OFFSET`; the offset may be hexadecimal.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (symbol, offset) = match text.split_once('+') {
            Some((symbol, offset)) => (symbol.trim(), number(offset.trim())?),
            None => (text, 0),
        };
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '$');
        let is_name = (1..=NAME_MAX).contains(&symbol.len()) && symbol.chars().all(is_part);
        (is_name && offset <= OFFSET_MAX).then(|| Self { symbol: symbol.to_owned(), offset })
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => f.write_str(&self.symbol),
            offset => write!(f, "{}+{offset:#x}", self.symbol),
        }
    }
}
