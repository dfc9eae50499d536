//! What GNU ld and LLVM's lld say.

use super::diagnostic::Severity;
use super::found::{Found, Line};
use super::location::Location;

/// Whether a program is a linker.
pub(super) fn is_linker(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    matches!(name, "ld" | "ld.bfd" | "ld.gold" | "ld.lld" | "gold" | "collect2") || name.ends_with("-ld")
}

/// `ld: lib/a.o: in function `f':`, which is about the lines that follow.
pub(super) fn context(text: &str) -> Option<Line<'_>> {
    let (object, function) = without_program(text).split_once(": in function `")?;
    let function = function.strip_suffix("':")?;
    Some(Line::Context { text: format!("in function '{function}'"), object: Some(object) })
}

/// A line of the linker.
pub(super) fn parse(text: &str) -> Option<Line<'_>> {
    if let Some(more) = text.strip_prefix(">>> ") {
        let more = more.split_whitespace().collect::<Vec<_>>().join(" ");
        return Some(Line::Note(Found::new(Severity::Error, &more)));
    }
    let message = without_program(text);
    symbol(message).or_else(|| {
        let is_linkers = message.len() < text.len();
        is_linkers.then(|| Line::Complaint(Found::new(Severity::Error, message)))
    })
}

fn without_program(text: &str) -> &str {
    match text.split_once(": ") {
        Some((program, rest)) if is_linker(program) => rest,
        _ => text,
    }
}

/// `a.c:(.text+0x5): undefined reference to `f'` and `…: multiple definition of `f'; b.o: first defined here`.
fn symbol(message: &str) -> Option<Line<'_>> {
    let start = [
        "undefined reference to ",
        "multiple definition of ",
        "undefined symbol: ",
        "relocation truncated to fit: ",
    ]
    .iter()
    .find_map(|words| message.find(words))?;
    let (place, text) = (message[..start].trim_end().trim_end_matches(':'), &message[start..]);
    if place.contains(' ') {
        return None;
    }
    let (text, note) =
        text.split_once("; ").map_or((text, None), |(text, note)| (text, Some(note.to_owned())));
    // The address in the section differs with each use and helps nobody.
    let place = place.split(":(").next().unwrap_or_default();
    // With `object:source` the source is meant.
    let place = place.split_once(".o:").map_or(place, |(_, source)| source);
    let found = Found::new(Severity::Error, text).at(&Location::of(place));
    Some(Line::Complaint(Found { note, is_linkers: true, ..found }))
}
