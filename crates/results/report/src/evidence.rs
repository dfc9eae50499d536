//! What shows that a Run went wrong, in as many lines as a reader can bear.

use std::collections::HashSet;

use judge::case::oom::without_dumps;
use judge::noise::is_noise;
use judge::{Outcome, Run};
use protocol::{End, ReportKind};

use crate::safe::{safe, safe_line};

/// Lines of evidence that a person is shown for one Run.
pub(crate) const LINES: usize = 40;

/// Evidence of one Run, safe to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Where each line comes from, and the line.
    pub(crate) lines: Vec<(&'static str, String)>,
    /// Lines that were left out.
    pub(crate) more: usize,
}

/// Lines from one place.
struct Section {
    label: &'static str,
    lines: Vec<String>,
    /// Lines that it gets before the others share what is left.
    share: usize,
    /// Its end matters more than its beginning.
    tail: bool,
    /// Its lines stay even if others have said the same.
    verbatim: bool,
}

/// The evidence of `run` in at most `limit` lines; what one place has said, the next does not repeat.
pub(crate) fn collect(run: &Run, limit: usize) -> Evidence {
    let mut sections = sections(run);
    let mut seen = HashSet::from([safe_line(&run.reason)]);
    for section in &mut sections {
        section.lines.retain(|line| !line.is_empty() && (section.verbatim || !seen.contains(line.trim())));
        seen.extend(section.lines.iter().map(|line| line.trim().to_string()));
    }
    let kept = shares(&sections, limit);
    let total: usize = sections.iter().map(|section| section.lines.len()).sum();
    let more = total - kept.iter().sum::<usize>();
    let lines = sections.into_iter().zip(kept).flat_map(|(section, kept)| {
        let skip = if section.tail { section.lines.len() - kept } else { 0 };
        section.lines.into_iter().skip(skip).take(kept).map(move |line| (section.label, line))
    });
    Evidence { lines: lines.collect(), more }
}

/// [`collect`] of a Run that did not pass; nothing of one that did.
pub(crate) fn of_failure(run: &Run, limit: usize) -> Evidence {
    if run.outcome == Outcome::Pass { Evidence::default() } else { collect(run, limit) }
}

/// The most telling first.
fn sections(run: &Run) -> Vec<Section> {
    let kernel = run.kernel_reports.iter().flat_map(|report| {
        let untitled = if report.lines.is_empty() { Some(&report.title) } else { None };
        untitled.into_iter().chain(&report.lines)
    });
    let stacks = match &run.end {
        Some(End::TimedOut { stacks, .. }) => stacks.as_str(),
        _ => "",
    };
    let is_wanted = run.evidence.is_empty() && run.kernel_reports.is_empty();
    let log = run.log.iter().map(|record| record.text.as_str()).filter(|text| is_wanted && !is_noise(text));
    vec![
        section("check", 10, checks(run)),
        section("broken", 5, texts(run, ReportKind::Broken)),
        section("end", 1, ended(run)),
        section("kernel", 16, kernel.map(String::as_str)),
        section("stack", 8, [stacks]),
        Section { tail: true, ..section("shows", 8, run.evidence.iter().map(String::as_str)) },
        Section { tail: true, ..section("log", 8, without_dumps(log)) },
        Section { tail: true, verbatim: true, ..section("output", 6, [run.output.as_str()]) },
        section("note", 2, not_found(run).iter().chain(&run.notes)),
    ]
}

fn section(label: &'static str, share: usize, texts: impl IntoIterator<Item: AsRef<str>>) -> Section {
    let lines = texts.into_iter().flat_map(|text| lines(text.as_ref())).collect();
    Section { label, lines, share, tail: false, verbatim: false }
}

fn lines(text: &str) -> Vec<String> {
    safe(text).lines().map(|line| line.trim_end().to_string()).collect()
}

fn texts(run: &Run, kind: ReportKind) -> impl Iterator<Item = &str> {
    run.reports.iter().filter(move |report| report.kind == kind).map(|report| report.text.as_str())
}

/// Failed checks; where not all of them have a text, how many there were.
fn checks(run: &Run) -> Vec<String> {
    let texts: Vec<_> = texts(run, ReportKind::Fail).map(str::to_string).collect();
    let unnamed = run.counts.fail as usize > texts.len();
    let count = unnamed.then(|| format!("{} of {} failed", run.counts.fail, run.counts.total()));
    count.into_iter().chain(texts).collect()
}

/// The commands that its shell did not find.
pub(crate) fn not_found(run: &Run) -> Option<String> {
    let commands: Vec<_> = run.not_found.iter().map(|command| safe_line(command)).collect();
    (!commands.is_empty()).then(|| format!("its shell did not find {}", commands.join(", ")))
}

/// How the process ended, where that is worth a word.
fn ended(run: &Run) -> Option<String> {
    match run.end.as_ref().filter(|_| run.outcome != Outcome::Pass)? {
        End::Exited(0) => None,
        End::Exited(code) => Some(format!("exit status {code}")),
        End::Signalled(signal) => Some(format!("killed by signal {signal}")),
        End::TimedOut { killed: true, .. } => Some("killed at its time limit".to_string()),
        End::TimedOut { killed: false, .. } => Some("could not be killed at its time limit".to_string()),
        End::NotStarted(why) => Some(format!("not started: {}", safe_line(why))),
    }
}

/// How many lines each section may show: first its share, then what others left over.
fn shares(sections: &[Section], limit: usize) -> Vec<usize> {
    let mut left = limit;
    let mut take = |wanted: usize| {
        let taken = wanted.min(left);
        left -= taken;
        taken
    };
    let mut kept: Vec<_> =
        sections.iter().map(|section| take(section.lines.len().min(section.share))).collect();
    for (section, kept) in sections.iter().zip(&mut kept) {
        *kept += take(section.lines.len() - *kept);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(lines: usize, share: usize) -> Section {
        Section { label: "x", lines: vec!["line".into(); lines], share, tail: false, verbatim: false }
    }

    #[test]
    fn what_one_section_does_not_need_goes_to_the_first_that_does() {
        let sections = [section(2, 10), section(100, 16), section(50, 6)];
        assert_eq!(shares(&sections, 40), [2, 32, 6]);
        assert_eq!(shares(&sections, 400), [2, 100, 50]);
        assert_eq!(shares(&sections, 5), [2, 3, 0]);
    }
}
