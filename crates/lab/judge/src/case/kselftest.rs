//! The exit status of a kselftest, and what its output says about it.

use protocol::{Counts, ReportKind};

use super::{Judgement, Seen, first_or, kiln, own_limit};
use crate::outcome::Outcome;

/// Most lines that are shown of what failed.
const LINES_MAX: usize = 50;

/// What programs say when the kernel lacks a system call: strerror(3).
const NOT_THERE: [&str; 2] = ["Function not implemented", "ENOSYS"];

/// Most options that are named of those that the kernel was built without.
const OPTIONS: usize = 5;

/// What `kselftest/runner.sh` takes for a time-out: the status of timeout(1).
const TIMED_OUT: i32 = 124;

/// It ended with exit status `code`.
pub(super) fn exited(seen: &Seen<'_>, counts: Counts, code: i32) -> Judgement {
    match code {
        0 if counts.total() > 0 => kiln::reported(seen, counts),
        0 => Judgement::new(Outcome::Pass, ""),
        2 => expected_failure(seen.output),
        3 => Judgement::new(Outcome::Fail, "it passed where a failure was expected (exit status 3)")
            .with(&directives(seen.output, "XPASS")),
        4 => skipped(seen),
        TIMED_OUT => own_limit(seen, "it ended by its own time limit (exit status 124)"),
        _ => unsupported(seen).unwrap_or_else(|| failed(seen.output, code)),
    }
}

/// Exit status 2 is also what a shell ends with when it cannot read a script, and many a program when it
/// is used wrongly. Who expects a failure says so: the kernel's own library does in its totals.
fn expected_failure(output: &str) -> Judgement {
    let texts = directives(output, "XFAIL");
    if texts.is_empty() && !output.to_ascii_lowercase().contains("xfail") {
        return Judgement::new(
            Outcome::Fail,
            "exit status 2 without an expected failure (XFAIL) in the output",
        )
        .with(&failures(output));
    }
    let reason = texts.into_iter().find(|text| !text.is_empty());
    let reason =
        reason.map_or_else(|| "expected failure".to_string(), |text| format!("expected failure: {text}"));
    Judgement { expected_failure: true, ..Judgement::new(Outcome::Pass, reason) }
}

fn skipped(seen: &Seen<'_>) -> Judgement {
    let text = directives(seen.output, "SKIP").into_iter().find(|text| !text.is_empty());
    // Scripts say it in prose, last.
    let last = || seen.output.lines().rev().map(comment).find(|line| !line.is_empty()).map(str::to_string);
    let reason = text.or_else(last).unwrap_or_else(|| "exit status 4".to_string());
    first_or(seen, ReportKind::Skip, Outcome::Skip, &reason)
}

/// It failed since the kernel lacks a feature that it was built without.
fn unsupported(seen: &Seen<'_>) -> Option<Judgement> {
    let line = seen.output.lines().find(|line| NOT_THERE.iter().any(|text| line.contains(text)))?;
    Some(Judgement::new(Outcome::Skip, format!("{}: {}", without(seen.lacking)?, comment(line))))
}

/// A failure of a test that asks for options which the kernel was built without: what it is due to cannot be known, so it
/// stays a failure, which a bisection can follow, and does not accuse the kernel.
pub(super) fn excused(seen: &Seen<'_>, judgement: Judgement) -> Judgement {
    match without(seen.lacking).filter(|_| judgement.outcome == Outcome::Fail) {
        Some(without) => {
            let reason = format!("{} ({without}, which the test asks for)", judgement.reason);
            Judgement { reason, ..judgement }.not_of_kernel()
        }
        None => judgement,
    }
}

/// The options that the kernel was built without, if there are any.
fn without(lacking: &[String]) -> Option<String> {
    let (first, others) = lacking.split_first()?;
    let others: String = others.iter().take(OPTIONS - 1).map(|option| format!(", CONFIG_{option}")).collect();
    let more = lacking.len().saturating_sub(OPTIONS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("the kernel was built without CONFIG_{first}{others}{more}"))
}

fn failed(output: &str, code: i32) -> Judgement {
    let failures = failures(output);
    let reason = failures.first().map(|line| format!("exit status {code}: {line}"));
    Judgement::new(Outcome::Fail, reason.unwrap_or_else(|| format!("exit status {code}"))).with(&failures)
}

/// Results that are not well, at any level of nesting.
fn failures(output: &str) -> Vec<String> {
    let is_failure = |line: &&str| {
        let excused = ["# SKIP", "# XFAIL", "# TODO"].iter().any(|directive| line.contains(directive));
        line.starts_with("not ok") && !excused
    };
    output.lines().map(comment).filter(is_failure).take(LINES_MAX).map(str::to_string).collect()
}

/// What stands after a directive: its own text, or else the name of what has it.
fn directives(output: &str, directive: &str) -> Vec<String> {
    let mark = format!("# {directive}");
    let text = |line: &str| {
        let (name, text) = line.split_once(&mark)?;
        let text = text.trim();
        let name = name.trim_start_matches("not ").trim_start_matches("ok ");
        let name = name.trim_start_matches(|c: char| c.is_ascii_digit()).trim_matches([' ', '-', '.']);
        Some(if text.is_empty() { name.to_string() } else { text.to_string() })
    };
    output.lines().filter_map(text).take(LINES_MAX).collect()
}

/// A line without the marks by which results of tests within tests are passed on.
fn comment(line: &str) -> &str {
    line.trim_start_matches(['#', ' ', '\t']).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_found_at_every_level() {
        let output = "TAP version 13\n1..3\nok 1 a\n# not ok 2 inner\n    not ok 3 deep\nnot ok 4 b # SKIP no\nnot ok\n";
        assert_eq!(failures(output), ["not ok 2 inner", "not ok 3 deep", "not ok"]);
    }

    #[test]
    fn a_directive_gives_its_text_or_else_its_name() {
        let output = "ok 1 # SKIP no such device\nok 2 - a name # SKIP\n1..0 # SKIP not today\nok 3 x\n";
        assert_eq!(directives(output, "SKIP"), ["no such device", "a name", "not today"]);
    }
}
