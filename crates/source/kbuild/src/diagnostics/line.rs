//! One line of a build's output, understood by itself.

use std::borrow::Cow;

use super::diagnostic::Severity;
use super::found::{Found, Line};
use super::location::Location;
use super::{link, messages};

/// The beginning of a text, of at most so many bytes.
pub(crate) fn cut(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length.min(text.len()))]
}

/// The line without colours and not too long.
pub(super) fn clean(line: &str, length: usize) -> Cow<'_, str> {
    let line = cut(line, length);
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
    let context = |text: String| Some(Line::Context { text, object: None });
    let included =
        text.strip_prefix("In file included from ").or_else(|| text.strip_prefix("                 from "));
    if let Some(from) = included {
        return context(format!("included from {}", from.trim_end_matches([',', ':'])));
    }
    // sparse names the file that includes the one of the line after it.
    if text.contains(": note: in included file") {
        return Some(Line::Step);
    }
    // The gcc that begins with "x.c: In function" may also say "In member function" or "At top level".
    let (_, what) = text.split_once(": ")?;
    if what.starts_with("In function ") && text.ends_with(':') {
        return context(format!("in {}", what.trim_start_matches("In ").trim_end_matches(':')));
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
        let message = &rest[kind.len()..];
        return Some(match severity {
            Some(severity) => complaint(place, *severity, message),
            None => Line::Note(Found::new(Severity::Warning, message).at(&Location::of(place))),
        });
    }
    dtc(place, rest).or_else(|| kconfig(place, rest)).or_else(|| sparse(place, rest))
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

/// What sparse expected of an expression and what it got, in lines of their own behind its place.
fn sparse<'a>(place: &str, text: &str) -> Option<Line<'a>> {
    let fits = text.starts_with("expected ") || text.starts_with("got ");
    let is_at_column = fits && Location::of(place).column.is_some();
    is_at_column.then(|| Line::Note(Found::new(Severity::Warning, text)))
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
