//! Fragments: the lines of a `.config` that somebody asks for.
//!
//! Kconfig passes over what it does not understand in such a file. Here it is a typo, and an error.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::error::{Place, quoted};

/// What a fragment wants an option to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// `n`, or `is not set`.
    No,
    /// `m`.
    Module,
    /// `y`.
    Yes,
    /// A text, without its quotes.
    Text(String),
    /// A number, decimal or with `0x`, as written.
    Number(String),
}

/// One option of a fragment. It is shown as the line that Kconfig reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The option, without `CONFIG_`.
    pub name: String,
    /// What it should be.
    pub wanted: Wanted,
    /// The fragment and the line in it.
    pub origin: Place,
}

/// Why a fragment is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A line that sets nothing, though somebody meant it to.
    #[error("{place}: {line} sets nothing: expected {expected}")]
    Line {
        /// Which line.
        place: Place,
        /// The line, escaped and cut.
        line: String,
        /// What it could be.
        expected: &'static str,
    },
    /// Two lines that want different things of one option.
    #[error("{place}: CONFIG_{name} was already set to something else in line {first}: keep one of them")]
    Twice {
        /// The later line.
        place: Place,
        /// The option.
        name: String,
        /// The line of the earlier one.
        first: usize,
    },
}

const ANY: &str = "CONFIG_NAME=y, =m, =n, =\"text\", =123, =0x7b, `# CONFIG_NAME is not set` or a comment";
const VALUE: &str = "y, m, n, \"text\", 123 or 0x7b after the =, and nothing else";
const NAME: &str = "a name of letters, digits and _ after CONFIG_";
const NOT_SET: &str = "exactly `# CONFIG_NAME is not set`";

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CONFIG_{}=", self.name)?;
        match &self.wanted {
            Wanted::No => f.write_str("n"),
            Wanted::Module => f.write_str("m"),
            Wanted::Yes => f.write_str("y"),
            Wanted::Text(text) => write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Wanted::Number(number) => f.write_str(number),
        }
    }
}

/// Reads a fragment; `name` is what messages call it.
pub fn parse(name: &str, text: &str) -> Result<Vec<Assignment>, Error> {
    let file = name.into();
    let mut found: Vec<Assignment> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let origin = Place { file: std::sync::Arc::clone(&file), line: index + 1 };
        let read = option(line.trim_end()).map_err(|expected| Error::Line {
            place: origin.clone(),
            line: quoted(line),
            expected,
        })?;
        let Some((name, wanted)) = read else { continue };
        match places.get(name).map(|&at| &found[at]) {
            Some(earlier) if earlier.wanted != wanted => {
                let first = earlier.origin.line;
                return Err(Error::Twice { place: origin, name: name.to_owned(), first });
            }
            Some(_) => {}
            None => {
                places.insert(name.to_owned(), found.len());
                found.push(Assignment { name: name.to_owned(), wanted, origin });
            }
        }
    }
    Ok(found)
}

/// Several fragments as one: of the assignments of an option, the last one counts.
pub fn combine(fragments: impl IntoIterator<Item = Vec<Assignment>>) -> Vec<Assignment> {
    let all: Vec<Assignment> = fragments.into_iter().flatten().collect();
    let mut seen = HashSet::new();
    let mut last: Vec<Assignment> =
        all.into_iter().rev().filter(|assignment| seen.insert(assignment.name.clone())).collect();
    last.reverse();
    last
}

/// What a line sets, nothing for a comment, or what was expected.
fn option(line: &str) -> Result<Option<(&str, Wanted)>, &'static str> {
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(comment) = line.strip_prefix('#') {
        return Ok(unset(comment)?.map(|name| (name, Wanted::No)));
    }
    let (name, value) = line.strip_prefix("CONFIG_").and_then(|rest| rest.split_once('=')).ok_or(ANY)?;
    if !is_name(name) {
        return Err(NAME);
    }
    Ok(Some((name, wanted(value).ok_or(VALUE)?)))
}

/// The option that a comment switches off. What only looks so is an error, as Kconfig would not see it.
fn unset(comment: &str) -> Result<Option<&str>, &'static str> {
    let mut words = comment.split_whitespace();
    let Some(name) = words.next().and_then(|word| word.strip_prefix("CONFIG_")) else { return Ok(None) };
    if !words.eq(["is", "not", "set"]) {
        return Ok(None);
    }
    let is_exact = is_name(name) && comment.len() == " CONFIG_ is not set".len() + name.len();
    if is_exact && comment.starts_with(" C") { Ok(Some(name)) } else { Err(NOT_SET) }
}

fn wanted(value: &str) -> Option<Wanted> {
    match value {
        "y" => return Some(Wanted::Yes),
        "m" => return Some(Wanted::Module),
        "n" => return Some(Wanted::No),
        _ => {}
    }
    if let Some(rest) = value.strip_prefix('"') {
        return unescape(rest).map(Wanted::Text);
    }
    is_number(value).then(|| Wanted::Number(value.to_owned()))
}

/// The text up to the closing quote, which must be the end.
fn unescape(quoted: &str) -> Option<String> {
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return characters.next().is_none().then_some(text),
            // Kconfig takes whatever follows a backslash as it is.
            '\\' => text.push(characters.next()?),
            other => text.push(other),
        }
    }
}

fn is_number(value: &str) -> bool {
    let is_all =
        |digits: &str, is: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|byte| is(&byte));
    match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
        Some(digits) => is_all(digits, u8::is_ascii_hexdigit),
        None => is_all(value.strip_prefix('-').unwrap_or(value), u8::is_ascii_digit),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests;
