//! What `kiln watch` tells of a kernel: the difference first, in at most 72 columns.

use std::io::{self, Write};
use std::path::Path;

use lab::request::words::call;
use ledger::short_name;
use serde::Serialize;
use watch::{Arrival, CaseChange, Change, Difference};

use crate::columns::{hanging, wrap};
use crate::header::{PLAIN_TEXT, encoded};
use crate::json::line;
use crate::safe::safe_line;
use crate::words::cases;

/// Columns, as the kernel's lists have it.
const WIDTH: usize = 72;

/// Columns for the word before a line.
const INDENT: usize = 11;

/// Cases that are described; the ledger has them all.
const CHANGES: usize = 20;

/// A kernel that came, and what it does that the one before did not.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Told<'a> {
    /// The kernel.
    pub arrival: &'a Arrival,
    /// What it does, for each suite and each set of parameters.
    pub differences: &'a [Difference],
    /// The call that shows all of it.
    pub command: &'a str,
    /// The folder of the sessions.
    #[serde(skip)]
    pub sessions: &'a Path,
}

impl Told<'_> {
    /// Whether anything is not as before.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.changes().next().is_some()
    }

    /// Whether something is worse than before.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.count(Change::Worse) > 0
    }

    fn changes(&self) -> impl Iterator<Item = &CaseChange> {
        self.differences.iter().flat_map(|difference| &difference.changes)
    }

    fn count(&self, change: Change) -> usize {
        self.changes().filter(|changed| changed.change == change).count()
    }

    /// All of it in a line: `6.1.0-57-cloud-amd64: 2 cases worse, 1 case better, compared with 6.1.0-56-cloud-amd64`.
    #[must_use]
    pub fn line(&self) -> String {
        let release = self.differences.first().map_or(&self.arrival.kernel, |first| &first.after.release);
        let counts = [(Change::Worse, "worse"), (Change::Different, "different"), (Change::Better, "better")];
        let counts = counts.map(|(change, word)| (self.count(change), word)).into_iter();
        let counts: Vec<String> = counts
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{} {word}", cases(count)))
            .collect();
        let before = self.differences.iter().find_map(|difference| difference.before.as_ref());
        let what = match (before, &counts[..]) {
            (None, _) => self.totals(),
            (Some(before), []) => format!("as with {}", before.release),
            (Some(before), _) => format!("{}, compared with {}", counts.join(", "), before.release),
        };
        safe_line(&format!("{release}: {what}"))
    }

    /// `102 cases, 2 fail`.
    fn totals(&self) -> String {
        let total = self.differences.iter().map(|difference| difference.cases).sum();
        match self.differences.iter().map(|difference| difference.failures).sum::<usize>() {
            0 => format!("{}, none fails", cases(total)),
            1 => format!("{}, 1 fails", cases(total)),
            failures => format!("{}, {failures} fail", cases(total)),
        }
    }

    /// Writes it as a mail to this address; kiln adds what a mail needs besides.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn mail(&self, to: &str, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "To: {}", safe_line(to))?;
        writeln!(out, "Subject: {}", encoded(&format!("kiln: {}", self.line())))?;
        // Nobody's vacation answers: RFC 3834.
        writeln!(out, "Auto-Submitted: auto-generated")?;
        out.write_all(PLAIN_TEXT.as_bytes())?;
        self.text(out)
    }

    /// Writes it for people.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn text(&self, mut out: impl Write) -> io::Result<()> {
        let mut paragraph =
            |lines: Vec<String>| lines.into_iter().try_for_each(|line| writeln!(out, "{line}"));
        paragraph(wrap(&format!("{}.", self.line()), WIDTH))?;
        let Arrival { source, kernel, version, .. } = self.arrival;
        let origin = if kernel.contains(version) { String::new() } else { format!(", version {version}") };
        paragraph(wrap(&safe_line(&format!("{kernel}{origin}, from {source}")), WIDTH))?;
        for difference in self.differences {
            paragraph(vec![String::new()])?;
            paragraph(heading(difference))?;
            for change in difference.changes.iter().take(CHANGES) {
                paragraph(self.described(change))?;
            }
            if let Some(more) = difference.changes.len().checked_sub(CHANGES).filter(|more| *more > 0) {
                paragraph(vec![format!("{:INDENT$}{} more", "", cases(more))])?;
            }
        }
        paragraph(vec![String::new(), "All of it, and how to find the change:".to_owned()])?;
        // A command is for pasting: it may be longer than a line.
        paragraph(vec![format!("  {}", safe_line(self.command)), "  kiln problems".to_owned()])
    }

    fn described(&self, change: &CaseChange) -> Vec<String> {
        let word = match change.change {
            Change::Worse => "worse",
            Change::Different => "different",
            Change::Better => "better",
        };
        let reason = Some(safe_line(&change.after.reason)).filter(|reason| !reason.is_empty());
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let (before, after) = (change.before.mark().word(), change.after.mark().word());
        let text = format!("{}: {before} before, now {after}{reason}", safe_line(&change.case));
        let mut lines = hanging(&format!("{word:<9}"), INDENT, &text, WIDTH);
        let session = short_name(&self.sessions.join(&change.after.session));
        let name = format!("{session}/{}", change.case);
        // A command is for pasting: it may be longer than a line.
        lines.push(format!("{:INDENT$}{}", "", safe_line(&call(&["show".to_owned(), name]))));
        lines
    }

    /// Writes it for programs: a line of JSON with the field `text`, which chats show.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn json(&self, mut out: impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Message<'a> {
            text: String,
            is_worse: bool,
            #[serde(flatten)]
            told: &'a Told<'a>,
        }
        let message = Message { text: self.line(), is_worse: self.is_worse(), told: self };
        out.write_all(line(&message)?.as_bytes())
    }
}

fn heading(difference: &Difference) -> Vec<String> {
    let Difference { suite, setting, after, cases: count, failures, .. } = difference;
    let setting = if setting.is_empty() { String::new() } else { format!(" ({setting})") };
    let parameters =
        if after.parameters.is_empty() { String::new() } else { format!(" with {}", after.parameters) };
    let text = format!("{suite}{setting}{parameters}: {}, {failures} fail", cases(*count));
    wrap(&safe_line(&text), WIDTH)
}

#[cfg(test)]
mod tests {
    use judge::Outcome;
    use matrix::{Cell, Column};

    use super::*;

    fn cell(outcome: Outcome, reason: &str) -> Cell {
        let failures = u32::from(outcome.is_failure());
        Cell { outcome, reason: reason.into(), session: "2026-11-20T10-00-00Z-7".into(), runs: 1, failures }
    }

    fn column(release: &str) -> Column {
        Column { kernel: format!("deb:{release}"), release: release.into(), parameters: String::new() }
    }

    fn arrival() -> Arrival {
        let kernel = "deb:6.1.0-57-cloud-amd64".to_owned();
        Arrival { source: "deb:6.1.*".into(), kernel, version: "6.1.193-1".into(), flavour: "cloud".into() }
    }

    fn difference(changes: Vec<CaseChange>) -> Difference {
        Difference {
            suite: "smoke".into(),
            setting: String::new(),
            before: Some(column("6.1.0-56-cloud-amd64")),
            after: column("6.1.0-57-cloud-amd64"),
            cases: 102,
            failures: 2,
            changes,
        }
    }

    fn change(case: &str, change: Change, after: Cell) -> CaseChange {
        CaseChange { case: case.into(), is_boot: false, change, before: cell(Outcome::Pass, ""), after }
    }

    fn text(differences: &[Difference]) -> String {
        let arrival = arrival();
        let told = Told {
            arrival: &arrival,
            differences,
            command: "kiln matrix deb:a deb:b --show",
            sessions: Path::new("/runs"),
        };
        let mut out = Vec::new();
        told.mail("list@example.org", &mut out).expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn the_difference_comes_first_and_lines_are_short() {
        let changes = vec![
            change("pipe/full", Change::Worse, cell(Outcome::Fail, &"is 0, expected 4096 ".repeat(9))),
            change("tpm/\u{1b}[31mx", Change::Different, cell(Outcome::Skip, "no TPM")),
        ];
        insta::assert_snapshot!(text(&[difference(changes)]));
    }

    #[test]
    fn nothing_new_is_said_in_a_line() {
        let arrival = arrival();
        let same = [difference(Vec::new())];
        let told = Told { arrival: &arrival, differences: &same, command: "", sessions: Path::new("/runs") };
        assert_eq!(told.line(), "6.1.0-57-cloud-amd64: as with 6.1.0-56-cloud-amd64");
        assert!(!told.is_news() && !told.is_worse());
        let first = [Difference { before: None, ..difference(Vec::new()) }];
        let told = Told { differences: &first, ..told };
        assert_eq!(told.line(), "6.1.0-57-cloud-amd64: 102 cases, 2 fail");
        let nothing = Told { differences: &[], ..told };
        assert_eq!(nothing.line(), "deb:6.1.0-57-cloud-amd64: 0 cases, none fails");
    }

    #[test]
    fn many_changes_are_counted_and_not_listed() {
        let one = |number: usize| change(&format!("case/{number}"), Change::Worse, cell(Outcome::Crash, ""));
        let mail = text(&[difference((0..25).map(one).collect())]);
        assert!(
            mail.contains("Subject: kiln: 6.1.0-57-cloud-amd64: 25 cases worse, compared with"),
            "{mail}"
        );
        assert!(mail.contains("5 cases more") && !mail.contains("case/21"), "{mail}");
    }
}
