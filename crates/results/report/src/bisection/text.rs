//! A bisection on a terminal.

use std::collections::BTreeSet;
use std::io::{self, Write};

use bisect::{Bisection, Changes, StateReport};
use unicode_width::UnicodeWidthStr;

use super::changes::{Excerpt, excerpt, item};
use super::difference::between;
use super::functions::functions;
use super::relevance::wanted;
use super::sides::{Sides, sides};
use super::walk::Walk;
use super::{candidate, statement};
use crate::columns::{Columns, fit, hanging, wrap};
use crate::evidence;
use crate::figures::count;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint, of};

/// Columns for the word before a line.
const INDENT: usize = 9;

/// Columns for the word before a fact: `parameter` is the longest.
const WORD: usize = 11;

/// Columns of a line where nobody says how many there are.
const WIDTH: usize = 110;

/// Files of a change.
const FILES: usize = 12;

/// Lines of evidence of one side.
const EVIDENCE: usize = 10;

/// Lines in which the logs differ.
const DIFFERENCE: usize = 40;

/// What stands in columns about a check; how it came out stands behind them.
const CHECKS: Columns<3> = Columns { head: ["CHECK", "EXPECTED", "SEEN"], right: &[], spared: &[1] };

/// Prints what was found, what proves it, what both sides show, and what it took. `width` are the columns of the
/// terminal, if it is one.
///
/// # Errors
///
/// When `out` does not take it.
pub fn text(bisection: &Bisection, width: Option<usize>, colour: bool, out: impl Write) -> io::Result<()> {
    let mut printer = Printer { bisection, out, width: width.unwrap_or(WIDTH), paint: Paint { colour } };
    printer.verdict()?;
    printer.proof()?;
    printer.sides()?;
    printer.steps()?;
    printer.reproduce()?;
    printer.out.flush()
}

struct Printer<'a, W> {
    bisection: &'a Bisection,
    out: W,
    width: usize,
    paint: Paint,
}

impl<W: Write> Printer<'_, W> {
    fn verdict(&mut self) -> io::Result<()> {
        for line in wrap(&statement::verdict(self.bisection), self.width) {
            writeln!(self.out, "{}", self.paint.paint(BOLD, &line))?;
        }
        self.hanging("question", &Walk::from(self.bisection).question())?;
        self.hanging("range", &Walk::from(self.bisection).range())?;
        for text in statement::untestable(self.bisection) {
            self.hanging("skipped", &text)?;
        }
        let (candidates, rest) = candidate::listed(self.bisection);
        let words = wanted(self.bisection);
        for candidate in candidates {
            writeln!(self.out)?;
            for (word, text) in candidate::facts(self.bisection.kind, candidate, FILES) {
                self.hanging(word, &text)?;
            }
            self.changes(&words, &candidate.changes, candidates.len())?;
        }
        if let Some(text) = rest {
            self.hanging("", &text)?;
        }
        writeln!(self.out)
    }

    /// What is new in one of so many candidates.
    fn changes(&mut self, words: &BTreeSet<String>, changes: &Changes, candidates: usize) -> io::Result<()> {
        let Some(Excerpt { head, entries, more }) = excerpt(words, changes, candidates) else {
            return Ok(());
        };
        if entries.is_empty() {
            return self.hanging("changes", &format!("{head}; the HTML report and --json list them"));
        }
        self.hanging("changes", &head)?;
        for line in entries.iter().flat_map(|entry| item(entry, WORD, self.width)) {
            writeln!(self.out, "{}", line.trim_end())?;
        }
        if more > 0 {
            let more = count(u64::try_from(more).unwrap_or(u64::MAX));
            self.hanging("", &format!("… {more} more in the HTML report and with --json"))?;
        }
        Ok(())
    }

    fn proof(&mut self) -> io::Result<()> {
        for (at, text) in statement::sureness(self.bisection).iter().enumerate() {
            self.hanging(if at == 0 { "proof" } else { "" }, text)?;
        }
        self.checks()?;
        writeln!(self.out)
    }

    /// A table, or a list where a line of the table would be cut: how a check came out stands at its end.
    fn checks(&mut self) -> io::Result<()> {
        let table = self.table();
        if table.iter().all(|line| line.width() <= self.width) {
            for (at, line) in table.iter().enumerate() {
                writeln!(self.out, "{}", if at == 0 { self.paint.paint(DIM, line) } else { line.into() })?;
            }
            return Ok(());
        }
        for check in &self.bisection.proof {
            for line in hanging("  -", 4, &statement::check_in_words(self.bisection, check), self.width) {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(())
    }

    /// The checks as lines of a table, its head first; none if there are no checks.
    fn table(&self) -> Vec<String> {
        let checks: Vec<[String; 4]> =
            self.bisection.proof.iter().map(|check| statement::check(self.bisection, check)).collect();
        if checks.is_empty() {
            return Vec::new();
        }
        let rows: Vec<[String; 3]> =
            checks.iter().cloned().map(|[what, expected, seen, _]| [what, expected, seen]).collect();
        let widths = CHECKS.widths(&rows, Some(self.width.saturating_sub(INDENT + 14)));
        let head = format!("  {}RESULT", CHECKS.padded(&CHECKS.heads(), &widths));
        let lines = rows.iter().zip(&checks).map(|(row, [.., seen, result])| {
            // Where nothing was seen, the reason needs the room.
            let widths = if seen.is_empty() { [widths[0], 0, 0] } else { widths };
            format!("  {}{result}", CHECKS.padded(row, &widths))
        });
        std::iter::once(head).chain(lines).collect()
    }

    /// Both sides, and how they differ.
    fn sides(&mut self) -> io::Result<()> {
        let sides = sides(self.bisection);
        let [without, with] = statement::roles(self.bisection);
        self.side(without, sides.without)?;
        self.side(with, sides.with)?;
        if let Some(text) = statement::metric(self.bisection, sides) {
            self.hanging("change", &text)?;
        }
        if let Some(text) = statement::threshold(self.bisection) {
            self.hanging("", &text)?;
        }
        for line in functions(sides) {
            self.line("", &line)?;
        }
        writeln!(self.out)?;
        self.logs(sides)
    }

    fn side(&mut self, role: &str, state: &StateReport) -> io::Result<()> {
        let head = format!("{role}: {}: {}", statement::place(state), Walk::from(self.bisection).seen(state));
        writeln!(self.out, "{}", self.paint.paint(BOLD, &fit(&head, self.width)))?;
        if let Some(run) = &state.evidence.run {
            let word = self.paint.paint(of(run.outcome), &format!("{:<7}", run.outcome.name()));
            let reason = format!("{}: {}", safe_line(&run.case), safe_line(&run.reason));
            let reason = reason.trim_end_matches([':', ' ']);
            writeln!(self.out, "  {word}{}", fit(reason, self.width.saturating_sub(INDENT)))?;
            let evidence = evidence::of_failure(run, EVIDENCE);
            for (label, line) in &evidence.lines {
                self.line(label, line)?;
            }
            self.more(evidence.more)?;
        }
        for line in state.evidence.lines.iter().take(EVIDENCE) {
            self.line("", &safe_line(line))?;
        }
        self.more(state.evidence.lines.len().saturating_sub(EVIDENCE))
    }

    fn logs(&mut self, sides: Sides<'_>) -> io::Result<()> {
        let (Some(first), Some(second)) = (&sides.without.evidence.run, &sides.with.evidence.run) else {
            return Ok(());
        };
        let difference = between(first, second, DIFFERENCE);
        if difference.lines.is_empty() {
            return Ok(());
        }
        let [without, with] = statement::roles(self.bisection);
        let head = format!("kernel logs: - only {without}, + only {with}");
        writeln!(self.out, "{}", fit(&head, self.width))?;
        for (sign, line) in &difference.lines {
            writeln!(self.out, "{}", fit(&format!("  {sign} {line}"), self.width))?;
        }
        self.more(difference.more)?;
        writeln!(self.out)
    }

    fn steps(&mut self) -> io::Result<()> {
        let [states, runs] = statement::steps(self.bisection);
        self.hanging("steps", &states)?;
        self.hanging("runs", &runs)?;
        for note in &self.bisection.notes {
            self.hanging("note", &safe_line(note))?;
        }
        Ok(())
    }

    /// Commands are never cut nor wrapped: somebody is going to paste them.
    fn reproduce(&mut self) -> io::Result<()> {
        if self.bisection.reproduce.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\nreproduce:")?;
        for command in &self.bisection.reproduce {
            writeln!(self.out, "  {}", safe_line(command))?;
        }
        Ok(())
    }

    /// A line of evidence.
    fn line(&mut self, label: &str, line: &str) -> io::Result<()> {
        let label = self.paint.paint(DIM, &format!("{label:<7}"));
        writeln!(self.out, "  {label}{}", fit(line, self.width.saturating_sub(INDENT)))
    }

    fn more(&mut self, more: usize) -> io::Result<()> {
        if more == 0 {
            return Ok(());
        }
        let noun = if more == 1 { "line" } else { "lines" };
        writeln!(self.out, "{}", self.paint.paint(DIM, &format!("         … {more} more {noun}")))
    }

    /// A paragraph beside a word.
    fn hanging(&mut self, word: &str, text: &str) -> io::Result<()> {
        for line in hanging(word, WORD, text, self.width) {
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
