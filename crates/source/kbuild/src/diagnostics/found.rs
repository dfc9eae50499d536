//! What one line of a build's output turns out to be.

use super::advice;
use super::diagnostic::Severity;
use super::location::Location;

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A diagnostic.
    Complaint(Found),
    /// More about the diagnostic before it.
    Note(Found),
    /// Where the diagnostic before it was.
    Place(Found),
    /// Where the diagnostic after it is: an include, a function, an object file.
    Context { text: String, object: Option<&'a str> },
    /// Source that is quoted, or anything else that does not end what was before.
    Quoted,
    /// make says that a command failed.
    Failed(Found),
    /// Something else begins.
    Step,
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) severity: Severity,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
    pub(super) option: Option<String>,
    pub(super) text: String,
    /// More of it that does not set it apart.
    pub(super) note: Option<String>,
    pub(super) weight: Weight,
    /// The linker names sources without their directory.
    pub(super) is_linkers: bool,
}

/// What is the cause where several things went wrong: of the weightiest the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Says that something else went wrong before.
    Consequence,
    Own,
    /// The host fails, so all that is built there may fail in odd ways.
    Host,
}

impl Found {
    pub(super) fn new(severity: Severity, text: &str) -> Self {
        let (text, option) = split_option(text.trim());
        let weight = match () {
            () if is_consequence(text) => Weight::Consequence,
            () if advice::is_full_disk(text) => Weight::Host,
            () => Weight::Own,
        };
        Self {
            severity,
            file: None,
            line: None,
            column: None,
            option,
            text: text.to_owned(),
            note: None,
            weight,
            is_linkers: false,
        }
    }

    pub(super) fn at(self, place: &Location<'_>) -> Self {
        let file = place.known_file();
        // A line of nothing helps nobody.
        let (line, column) = if file.is_some() { (place.line, place.column) } else { (None, None) };
        Self { file, line, column, ..self }
    }
}

/// Takes `[-Wunused-variable]` off the end; `-Werror=` before a name says only that it is an error now.
fn split_option(text: &str) -> (&str, Option<String>) {
    let option = |rest: &str| {
        let name = rest.rsplit(',').next().unwrap_or(rest);
        let name = name.strip_prefix("-Werror=").map_or_else(|| name.to_owned(), |name| format!("-W{name}"));
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-+=_#".contains(&byte);
        (name.starts_with('-') && name.bytes().all(plain)).then_some(name)
    };
    let split = || {
        let (before, last) = text.strip_suffix(']')?.rsplit_once(" [")?;
        Some((before.trim_end(), Some(option(last)?)))
    };
    split().unwrap_or((text, None))
}

/// What programs say after they have said what is wrong.
fn is_consequence(text: &str) -> bool {
    let starts = ["ld returned ", "linker command failed", "too many errors emitted"];
    starts.iter().any(|start| text.starts_with(start))
}
