//! What make, shells, modpost, kconfig and scripts say.

use super::diagnostic::Severity;
use super::found::{Found, Line, Weight};
use super::location::Location;

/// Lines that say that something else begins: Kbuild's `  CC      a.o`, directories, empty lines.
pub(super) fn step(text: &str) -> Option<Line<'_>> {
    let is_step = || {
        let rest = text.strip_prefix("  ")?;
        let (word, object) = rest.split_once(' ')?;
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let is_long = word.len() >= 2 && word.starts_with(|first: char| first.is_ascii_uppercase());
        (is_long && word.bytes().all(is_name) && !object.trim_start().is_empty()).then_some(())
    };
    let is_directory = || {
        let (program, rest) = text.split_once(": ")?;
        (program.starts_with("make") && ["Entering", "Leaving"].iter().any(|word| rest.starts_with(word)))
            .then_some(())
    };
    (text.is_empty() || is_step().or_else(is_directory).is_some()).then_some(Line::Step)
}

/// `make[2]: *** [Makefile:12: a.o] Error 1`, `Makefile:3: *** text.  Stop.`, `*** text`.
pub(super) fn make(text: &str) -> Option<Line<'_>> {
    let (before, message) = match text.strip_prefix("*** ") {
        Some(message) => ("", message),
        None => text.split_once(": *** ")?,
    };
    let message = message.trim_end_matches("  Stop.").trim();
    if ["Waiting for unfinished jobs", "Deleting "].iter().any(|start| message.starts_with(start)) {
        return Some(Line::Step);
    }
    if before.contains(' ') || message.is_empty() {
        return None;
    }
    let is_make = before.is_empty() || before.starts_with("make");
    if let Some((place, result)) = message.strip_prefix('[').and_then(|rest| rest.rsplit_once("] ")) {
        let target = place.rsplit(": ").next().unwrap_or(place);
        let found = Found::new(Severity::Error, &format!("{target}: {result}"));
        return Some(Line::Failed(Found { weight: Weight::Consequence, ..found }));
    }
    let found = Found::new(Severity::Error, message.trim_start_matches('"').trim_end_matches("\"."));
    Some(Line::Complaint(if is_make { found } else { found.at(&Location::of(before)) }))
}

/// `/bin/sh: 1: bison: not found`, `bash: line 1: bison: command not found`, `make: bison: No such file or directory`.
pub(super) fn shell(text: &str) -> Option<Line<'_>> {
    let endings = [": not found", ": command not found", ": Command not found", ": Permission denied"];
    let (program, rest) = text.split_once(": ")?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_make = name == "make" || name.starts_with("make[");
    let is_known =
        is_make || matches!(name, "sh" | "bash" | "dash" | "env" | "xargs") || name.ends_with(".sh");
    if !is_known || program.contains(' ') {
        return None;
    }
    // What follows is "1: " or "line 1: ".
    let message = match rest.split_once(": ") {
        Some((line, message))
            if line.trim_start_matches("line ").bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            message
        }
        _ => rest,
    };
    let is_missing = endings.iter().any(|ending| message.ends_with(ending))
        || (message.ends_with(": No such file or directory") && !message.contains(": cannot "));
    let is_syntax = message.starts_with("Syntax error") || message.starts_with("syntax error");
    // bash names the process and its end.
    let is_killed = message.split_whitespace().nth(1) == Some("Killed");
    let is_error = is_missing || is_syntax || is_killed || super::advice::is_full_disk(message);
    let message = if is_killed { "Killed" } else { message };
    let place = if name.ends_with(".sh") {
        Location { file: program, ..Location::default() }
    } else {
        Location::default()
    };
    is_error.then(|| Line::Complaint(Found::new(Severity::Error, message).at(&place)))
}

/// `WARNING: modpost: vmlinux.o: text`, `ERROR: text`, `error[E0425]: text`.
pub(super) fn labelled(text: &str) -> Option<Line<'_>> {
    let (label, message) = text.split_once(": ")?;
    let severity = match label {
        "WARNING" | "Warning" | "warning" => Severity::Warning,
        "ERROR" | "Error" | "error" | "FATAL ERROR" | "FATAL" | "fatal" => Severity::Error,
        code if code.starts_with("error[E") && code.ends_with(']') => Severity::Error,
        _ => return None,
    };
    // dtc says where after the label.
    let (place, rest) = message.split_once(' ').unwrap_or((message, ""));
    let location = Location::of(place);
    if label == "Error" && location.column.is_some() {
        return Some(Line::Complaint(Found::new(severity, rest).at(&location)));
    }
    let found = Found::new(severity, message.strip_prefix("modpost: ").unwrap_or(message));
    let file = modpost_file(&found.text).map(str::to_owned);
    // dtc's last words.
    let weight = if label == "FATAL ERROR" { Weight::Consequence } else { found.weight };
    Some(Line::Complaint(Found { file, weight, ..found }))
}

/// The file that modpost speaks of.
fn modpost_file(text: &str) -> Option<&str> {
    let is_object = |word: &&str| {
        let ends = [".o", ".ko"].iter().any(|ending| word.ends_with(ending));
        (ends || *word == "vmlinux") && word.len() > 3
    };
    text.split([' ', '[', ']', '(']).map(|word| word.trim_end_matches(':')).find(is_object)
}

/// Scripts, rustc's places, and what only a few programs say.
pub(super) fn other(text: &str) -> Option<Line<'_>> {
    let trimmed = text.trim_start();
    let error = |text: &str| Some(Line::Complaint(Found::new(Severity::Error, text)));
    if let Some(place) = trimmed.strip_prefix("--> ") {
        return Some(Line::Place(Found::new(Severity::Error, "").at(&Location::of(place))));
    }
    // kconfig goes on in indented lines about what depends on what.
    if ["  Depends on [", "  Selected by [", "  - "].iter().any(|start| text.starts_with(start)) {
        return Some(Line::Note(Found::new(Severity::Warning, trimmed)));
    }
    if let Some(file) = text.strip_prefix("  File \"") {
        return Some(Line::Context {
            text: format!("in {}", file.replacen("\", line ", ":", 1)),
            object: None,
        });
    }
    let is_pythons = || {
        let name = text.split(':').next()?;
        let is_class = ["Error", "Exception", "Interrupt"].iter().any(|ending| name.ends_with(ending));
        (is_class && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte)))
            .then_some(())
    };
    if is_pythons().is_some() || text == "Killed" || super::advice::is_full_disk(text) {
        return error(text);
    }
    let known = [
        "fixdep: ",
        "BTF: ",
        "Failed to generate BTF",
        "Inconsistent kallsyms data",
        "Can't locate ",
        "Can't exec ",
    ];
    if known.iter().any(|start| text.starts_with(start)) {
        return error(text);
    }
    perl(text)
}

/// `text at NAME.pl line 12.`
fn perl(text: &str) -> Option<Line<'_>> {
    let (message, place) = text.strip_suffix('.')?.rsplit_once(" at ")?;
    let (file, line) = place.split_once(" line ")?;
    let location = Location { file, line: Some(line.split(',').next()?.parse().ok()?), column: None };
    let is_script = [".pl", ".pm"].iter().any(|ending| file.ends_with(ending)) && !file.contains(' ');
    is_script.then(|| Line::Complaint(Found::new(Severity::Warning, message).at(&location)))
}
