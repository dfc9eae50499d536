//! What analysers print.

use std::path::Path;

use host::task::Finished;

use super::calls::Call;
use super::place::Place;
use super::{Finding, Tool};
use crate::diagnostics::{Diagnostic, Diagnostics, Location, Places, Severity, cut};

/// Most findings of one call.
const FINDINGS_MAX: usize = 200;

/// Longest line that is understood, in bytes.
const LINE_MAX: usize = 2000;

/// By these cppcheck says that it stopped reading a file in one of its configurations.
const GIVES_UP: [&str; 5] =
    ["unknownMacro", "syntaxError", "preprocessorErrorDirective", "internalError", "internalAstError"];

/// cppcheck's name for having read only some configurations of a file.
const TOO_MANY: &str = "toomanyconfigs";

/// What came of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallResult {
    /// What it found.
    pub(super) findings: Vec<Finding>,
    /// Why that is not all, if it is not.
    pub(super) failure: Option<String>,
}

/// Reads what a call printed.
pub(super) fn read(call: &Call, end: &Finished, place: Place<'_>) -> CallResult {
    let (mut found, gave_up) = match call.tool {
        Tool::Coccinelle => (of_coccinelle(call, &end.output, place.tree), None),
        Tool::Checkpatch => (end.output.lines().filter_map(of_checkpatch).collect(), None),
        tool => {
            let printed: String = end.complaint.lines().map(as_compilers_write).collect();
            of_diagnostics(tool, Diagnostics::of(&printed, place.tree, place.objects).all)
        }
    };
    let failed = found.is_empty() && !end.success;
    let failure = gave_up.or_else(|| failed.then(|| first_line(&end.complaint, &end.output)));
    // What is outside the tree is not the patches'.
    found.retain(|finding| finding.file.as_deref().is_none_or(|file| !file.starts_with(['/', '.'])));
    found.truncate(FINDINGS_MAX);
    CallResult { findings: found, failure }
}

fn first_line(complaint: &str, output: &str) -> String {
    let line = complaint.lines().chain(output.lines()).map(str::trim).find(|line| !line.is_empty());
    cut(line.unwrap_or("it gives no reason"), LINE_MAX).to_owned()
}

/// kernel-doc of Linux 6.16 and later writes `Warning: fs/x.c:12 text`.
fn as_compilers_write(line: &str) -> String {
    let newer = || line.strip_prefix("Warning: ")?.split_once(' ').filter(|(place, _)| place.contains(':'));
    match newer() {
        Some((place, text)) => format!("{place}: warning: {text}\n"),
        None => format!("{line}\n"),
    }
}

/// What compilers and their like found, and why some of it is missing.
fn of_diagnostics(tool: Tool, all: Vec<Diagnostic>) -> (Vec<Finding>, Option<String>) {
    let gives_up = |found: &&Diagnostic| {
        found.option.as_deref().is_some_and(|it| GIVES_UP.contains(&it.trim_start_matches('-')))
    };
    let gave_up = all.iter().filter(|_| tool == Tool::Cppcheck).find(gives_up);
    let gave_up = gave_up.map(|found| found.text.trim_start_matches("error: ").to_owned());
    (all.into_iter().filter_map(|found| of_diagnostic(tool, found)).collect(), gave_up)
}

/// What is a finding among what compilers print.
fn of_diagnostic(tool: Tool, found: Diagnostic) -> Option<Finding> {
    let Diagnostic { severity, file, line, column, option, text, notes, .. } = found;
    let option = option.map(|option| option.trim_start_matches('-').to_owned());
    let file = Some(file?);
    let (severity, rule, text) = match tool {
        // What the compiler warns of in each build is no news.
        Tool::Gcc => {
            let rule = option?.strip_prefix('W')?.to_owned();
            rule.starts_with("analyzer-").then_some((Severity::Warning, Some(rule), text))?
        }
        Tool::Clang => {
            let (text, rule) = text.strip_suffix(']')?.rsplit_once(" [")?;
            rule.contains('.').then(|| (Severity::Warning, Some(rule.to_owned()), text.to_owned()))?
        }
        Tool::Cppcheck => {
            let rule = option.filter(|rule| !GIVES_UP.contains(&rule.as_str()) && rule != TOO_MANY)?;
            let (severity, text) = text.split_once(": ")?;
            let severity = if severity == "error" { Severity::Error } else { Severity::Warning };
            (severity, Some(rule), text.to_owned())
        }
        _ => (severity, option, text),
    };
    Some(Finding { rule, file, line, column, notes, ..Finding::new(tool, severity, &text) })
}

/// Lines such as `fs/x.c:16:9-16: ERROR: reference preceded by free on line 14`, with or without the word.
fn of_coccinelle(call: &Call, output: &str, tree: &Path) -> Vec<Finding> {
    let places = Places::new(tree, Path::new(""));
    let finding = |line: &str| {
        let (place, text) = cut(line, LINE_MAX).split_once(": ")?;
        let (place, _) = place.rsplit_once('-')?;
        let place = Location::of(place);
        let line = Some(place.line?);
        let words = [("ERROR: ", Severity::Error), ("WARNING: ", Severity::Warning)];
        let known = words.iter().find_map(|(word, severity)| Some((text.strip_prefix(word)?, *severity)));
        let (text, severity) = known.unwrap_or((text, Severity::Warning));
        Some(Finding {
            rule: call.rule.clone(),
            file: Some(places.file(place.file)),
            line,
            column: place.column,
            ..Finding::new(Tool::Coccinelle, severity, text.trim())
        })
    };
    output.lines().filter_map(finding).collect()
}

/// `fs/x.c:22: WARNING:SPACING: space prohibited before semicolon`; of the message itself no file is named.
fn of_checkpatch(line: &str) -> Option<Finding> {
    let line = cut(line, LINE_MAX);
    let kinds =
        [(": ERROR:", Severity::Error), (": WARNING:", Severity::Warning), (": CHECK:", Severity::Warning)];
    let split = |(kind, severity): &(&str, Severity)| Some((line.split_once(kind)?, *severity));
    let ((place, rest), severity) = kinds.iter().find_map(split)?;
    let (rule, text) = rest.split_once(": ")?;
    let place = Location::of(place);
    let file = (!place.file.is_empty()).then(|| place.file.to_owned());
    Some(Finding {
        rule: Some(rule.to_owned()),
        line: place.line.filter(|_| file.is_some()),
        file,
        ..Finding::new(Tool::Checkpatch, severity, text.trim())
    })
}

#[cfg(test)]
mod tests;
