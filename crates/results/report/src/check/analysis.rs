//! What static analysis found, in words.

use check::{Analysis, NewFinding, SeriesCheck};
use kbuild::analysis::{Finding, Tool};

use crate::safe::safe_line;

/// The numbers: `3 files with sparse and gcc: 2 new findings, 1 fixed, 14 as before`.
pub(super) fn counted(analysis: &Analysis) -> String {
    let files = if analysis.files == 1 { "1 file".to_owned() } else { format!("{} files", analysis.files) };
    let tools: Vec<&str> = analysis.tools.iter().map(|(tool, _)| tool.name()).collect();
    let with = if tools.is_empty() { "no analyser".to_owned() } else { tools.join(", ") };
    let new = analysis.new.iter().filter(|new| new.counts()).count();
    let style = analysis.new.len() - new;
    let [fixed, outstanding] = [&analysis.fixed, &analysis.outstanding].map(Vec::len);
    let counts = [(style, "about style"), (fixed, "fixed"), (outstanding, "as before")];
    let counts: String = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!(", {count} {what}"))
        .collect();
    format!("{files} with {with}: {}{counts}", findings(new))
}

/// `1 new finding`, `2 new findings`.
fn findings(count: usize) -> String {
    if count == 1 { "1 new finding".to_owned() } else { format!("{count} new findings") }
}

/// What each analyser finds that counts: `2 new findings of sparse in patch 2 of 3`.
pub(super) fn sentences(check: &SeriesCheck) -> Vec<String> {
    let total = check.patches.len();
    let Some(analysis) = &check.analysis else { return Vec::new() };
    let of_tool = |tool: Tool| {
        let new: Vec<&NewFinding> =
            analysis.new.iter().filter(|new| new.counts() && new.finding.tool == tool).collect();
        let first = new.first()?.patch;
        let is_one = first.is_some() && new.iter().all(|new| new.patch == first);
        let place = first.filter(|_| is_one).map(|number| format!(" in patch {number} of {total}"));
        Some(format!("{} of {}{}", findings(new.len()), tool.name(), place.unwrap_or_default()))
    };
    Tool::ALL.into_iter().filter_map(of_tool).collect()
}

/// What was not analysed and why, if anything was not.
pub(super) fn omissions(analysis: &Analysis) -> Vec<String> {
    let missing: Vec<&str> = analysis.missing.iter().map(|tool| tool.name()).collect();
    let are = if missing.len() == 1 { "is" } else { "are" };
    let missing = (!missing.is_empty()).then(|| format!("{} {are} not installed", missing.join(", ")));
    missing.into_iter().chain(analysis.left_out.iter().map(|left_out| safe_line(left_out))).collect()
}

/// Findings that the patches brought, those that count first, each with the number of its patch.
pub(super) fn new(analysis: &Analysis, total: usize) -> Vec<(String, &Finding)> {
    let word =
        |new: &NewFinding| new.patch.map_or_else(|| "new".to_owned(), |number| format!("{number}/{total}"));
    let (counting, style): (Vec<&NewFinding>, Vec<&NewFinding>) =
        analysis.new.iter().partition(|new| new.counts());
    counting.into_iter().chain(style).map(|new| (word(new), &new.finding)).collect()
}

/// A finding in a line.
pub(super) fn line(finding: &Finding) -> String {
    safe_line(&finding.to_string())
}

/// What was said with a finding, and the line of code that it is about.
pub(super) fn evidence(finding: &Finding) -> Vec<String> {
    let code = Some(&finding.code).filter(|code| !code.is_empty());
    finding.notes.iter().chain(code).map(|line| safe_line(line)).collect()
}
