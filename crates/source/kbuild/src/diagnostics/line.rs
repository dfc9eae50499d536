//! One line of a build's output, understood by itself.

use std::borrow::Cow;

use super::location::Location;
use super::{Severity, advice, link, messages};

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

/// The line without colours and not too long.
pub(super) fn clean(line: &str, length: usize) -> Cow<'_, str> {
    let mut end = line.len().min(length);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let line = &line[..end];
    if !line.contains('\x1b') {
        return Cow::Borrowed(line);
    }
    let mut pieces = line.split('\x1b');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let after = piece
            .strip_prefix('[')
            .and_then(|rest| rest.find(|c: char| c.is_ascii_alphabetic()).map(|at| &rest[at + 1..]));
        plain.push_str(after.unwrap_or(piece));
    }
    Cow::Owned(plain)
}

/// Understands a line.
pub(super) fn parse(line: &str) -> Line<'_> {
    let text = line.trim_end();
    messages::step(text)
        .or_else(|| context(text))
        .or_else(|| messages::make(text))
        .or_else(|| messages::shell(text))
        .or_else(|| messages::labelled(text))
        .or_else(|| located(text))
        .or_else(|| link::parse(text))
        .or_else(|| messages::other(text))
        .unwrap_or(Line::Quoted)
}

/// What compilers say before a diagnostic.
fn context(text: &str) -> Option<Line<'_>> {
    let said = |text: String| Some(Line::Context { text, object: None });
    let included =
        text.strip_prefix("In file included from ").or_else(|| text.strip_prefix("                 from "));
    if let Some(from) = included {
        return said(format!("included from {}", from.trim_end_matches([',', ':'])));
    }
    // The gcc that begins with "x.c: In function" may also say "In member function" or "At top level".
    let (_, what) = text.split_once(": ")?;
    if what.starts_with("In function ") && text.ends_with(':') {
        return said(format!("in {}", what.trim_start_matches("In ").trim_end_matches(':')));
    }
    if matches!(what, "At top level:" | "Assembler messages:") {
        return Some(Line::Step);
    }
    link::context(text)
}

const KINDS: [(&str, Option<Severity>); 9] = [
    ("warning: ", Some(Severity::Warning)),
    ("error: ", Some(Severity::Error)),
    ("fatal error: ", Some(Severity::Error)),
    ("note: ", None),
    ("remark: ", None),
    ("Error: ", Some(Severity::Error)),
    ("Fatal error: ", Some(Severity::Error)),
    ("Warning: ", Some(Severity::Warning)),
    ("Info: ", None),
];

/// `PLACE: KIND: TEXT`, as compilers, assemblers, objtool and kconfig write it.
fn located(text: &str) -> Option<Line<'_>> {
    let (head, rest) = text.strip_prefix("<inline asm>").unwrap_or(text).split_once(' ')?;
    let rest = rest.trim_start();
    // kconfig has no space before the kind.
    for (ending, severity) in [(":warning:", Severity::Warning), (":error:", Severity::Error)] {
        if let Some(place) = head.strip_suffix(ending) {
            return Some(complaint(place, severity, rest));
        }
    }
    let place = head.strip_suffix(':')?;
    if ["internal compiler error: ", "sorry, unimplemented: "].iter().any(|words| rest.starts_with(words)) {
        return Some(complaint(place, Severity::Error, rest));
    }
    if let Some((kind, severity)) = KINDS.iter().find(|(kind, _)| rest.starts_with(kind)) {
        let said = &rest[kind.len()..];
        return Some(match severity {
            Some(severity) => complaint(place, *severity, said),
            None => Line::Note(Found::new(Severity::Warning, said).at(&Location::of(place))),
        });
    }
    dtc(place, rest).or_else(|| kconfig(place, rest))
}

fn complaint(place: &str, severity: Severity, text: &str) -> Line<'static> {
    let location = Location::of(place);
    if location.line.is_none() && is_program(place) {
        let name = place.rsplit('/').next().unwrap_or(place);
        let name = name.split('[').next().unwrap_or(name);
        let found = Found::new(severity, text);
        return Line::Complaint(Found { text: format!("{name}: {}", found.text), ..found });
    }
    Line::Complaint(Found::new(severity, text).at(&location))
}

/// Whether a program speaks and not of a file: `gcc`, `/usr/bin/ld`, `ld.lld`, `make[2]`, `cc1`.
fn is_program(place: &str) -> bool {
    let name = place.rsplit('/').next().unwrap_or(place);
    link::is_linker(name)
        || (!name.contains('.') && !name.starts_with(['<', '{']) && !name.starts_with("vmlinux"))
}

/// `Warning (check): text`.
fn dtc<'a>(place: &str, rest: &str) -> Option<Line<'a>> {
    let kinds = [("Warning (", Severity::Warning), ("ERROR (", Severity::Error)];
    let (after, severity) =
        kinds.iter().find_map(|(kind, severity)| Some((rest.strip_prefix(kind)?, *severity)))?;
    let (check, text) = after.split_once("): ")?;
    let found = Found::new(severity, text).at(&Location::of(place));
    Some(Line::Complaint(Found { option: Some(check.to_owned()), ..found }))
}

/// `init/Kconfig:12: syntax error`.
fn kconfig<'a>(place: &str, text: &str) -> Option<Line<'a>> {
    let location = Location::of(place);
    let name = location.file.rsplit('/').next().unwrap_or_default();
    let fits = name.starts_with("Kconfig") && location.line.is_some();
    fits.then(|| Line::Complaint(Found::new(Severity::Error, text).at(&location)))
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
