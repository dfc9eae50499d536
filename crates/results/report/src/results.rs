//! What `kiln results` prints.

use std::io::{self, Write};

use ledger::{FoundRuns, KnownRun};

use crate::columns::Columns;
use crate::json::line;
use crate::safe::safe_line;
use crate::style::{DIM, Paint, of};

/// A narrow terminal goes without the reason first: `kiln show` says it, too.
const COLUMNS: Columns<4> =
    Columns { head: ["OUTCOME", "KERNEL", "RUN", "WHY"], right: &[], spared: &[3, 1] };

/// Prints a line for each Run, in the given order, and how many there are besides; no line is wider than `width` columns as long
/// as names are not.
///
/// # Errors
///
/// When `out` does not take it.
pub fn results_table(
    found: &FoundRuns,
    width: Option<usize>,
    colour: bool,
    mut out: impl Write,
) -> io::Result<()> {
    let paint = Paint { colour };
    let mut rows: Vec<[String; 4]> = found.runs.iter().map(row).collect();
    // Reasons are cut before they are left out.
    COLUMNS.fit_last(&mut rows, width);
    let widths = COLUMNS.widths(&rows, width);
    writeln!(out, "{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
    for (run, row) in found.runs.iter().zip(&rows) {
        let text = COLUMNS.line(row, &widths);
        let (outcome, rest) = text.split_at(run.outcome.name().len());
        writeln!(out, "{}{rest}", paint.paint(of(run.outcome), outcome))?;
    }
    if found.runs.len() < found.total {
        writeln!(out, "{} of {} Runs; --limit shows more", found.runs.len(), found.total)?;
    }
    out.flush()
}

fn row(run: &KnownRun) -> [String; 4] {
    let release = run.kernel_name();
    let times =
        if run.runs > 1 { format!(" ({} of {} Runs failed)", run.failures, run.runs) } else { String::new() };
    [
        run.outcome.name().to_owned(),
        safe_line(release),
        safe_line(&format!("{}/{}", run.session, run.case)),
        safe_line(&format!("{}{times}", run.reason)).trim().to_owned(),
    ]
}

/// Prints a JSON object a line for each Run.
///
/// # Errors
///
/// When `out` does not take it.
pub fn results_json(found: &FoundRuns, mut out: impl Write) -> io::Result<()> {
    for run in &found.runs {
        out.write_all(line(run)?.as_bytes())?;
    }
    out.flush()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use judge::Outcome;

    use super::*;

    pub(crate) fn run(case: &str, outcome: Outcome, reason: &str) -> KnownRun {
        KnownRun {
            session: "2026-11-20T10-00-00Z-7".to_owned(),
            started: "2026-11-20T10:00:00Z".parse().unwrap(),
            locator: "deb:6.1.0-47-amd64".to_owned(),
            kernel: "deb:6.1.0-47-amd64".to_owned(),
            release: Some("6.1.0-47-amd64".to_owned()),
            machine: "QEMU".to_owned(),
            suite: "smoke".to_owned(),
            case: case.to_owned(),
            is_boot: false,
            outcome,
            reason: reason.to_owned(),
            duration: Duration::from_millis(1500),
            runs: 1,
            failures: 0,
            blame: None,
            signature: None,
            identity: "1f".to_owned(),
            parameters: None,
            origin: None,
        }
    }

    fn found() -> FoundRuns {
        let many =
            KnownRun { runs: 10, failures: 3, ..run("pipe/full", Outcome::Fail, "is 0, expected 4096") };
        let odd = run("evil\u{1b}[31m", Outcome::Crash, &"BUG: \u{202e}".repeat(40));
        FoundRuns { runs: vec![many, odd, run("a", Outcome::Pass, "")], total: 7 }
    }

    fn table(width: Option<usize>) -> String {
        let mut out = Vec::new();
        results_table(&found(), width, false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_run_has_a_line_that_names_it() {
        insta::assert_snapshot!(table(Some(120)));
    }

    #[test]
    fn a_narrow_terminal_goes_without_reasons_and_none_is_harmed() {
        let text = table(Some(60));
        assert!(
            text.lines().skip(1).all(|line| line.chars().count() <= 90 && !line.contains("expected")),
            "{text}"
        );
        for width in [Some(1), Some(100), None] {
            assert!(!table(width).contains(['\u{1b}', '\u{202e}']));
        }
    }

    #[test]
    fn programs_get_an_object_for_each_run() {
        let mut out = Vec::new();
        results_json(&found(), &mut out).unwrap();
        assert!(out.is_ascii());
        let first: serde_json::Value =
            serde_json::from_slice(out.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
        assert_eq!((first["failures"].as_u64(), first["duration"].as_f64()), (Some(3), Some(1.5)));
    }
}
