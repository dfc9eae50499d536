//! A check on a terminal.

use std::io::{self, Write};

use check::{Commit, SeriesCheck};

use super::{analysis, statement};
use crate::columns::{fit, hanging, wrap};
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint};

/// Columns for the word before a line.
const INDENT: usize = 12;

/// Columns of a line where nobody says how many there are.
const WIDTH: usize = 110;

/// Lines of a compiler for one patch, or of evidence for one case.
const LINES: usize = 8;

/// Findings of static analysis.
const FINDINGS: usize = 20;

/// Prints the verdict, what came of each patch, what static analysis found, what cases and operations do differently, and how to see it again. `width`
/// are the columns of the terminal, if it is one.
///
/// # Errors
///
/// When `out` does not take it.
pub fn text(check: &SeriesCheck, width: Option<usize>, colour: bool, out: impl Write) -> io::Result<()> {
    let mut printer = Printer { check, out, width: width.unwrap_or(WIDTH), paint: Paint { colour } };
    printer.verdict()?;
    printer.builds()?;
    printer.analysis()?;
    printer.cases()?;
    printer.costs()?;
    printer.end()?;
    printer.out.flush()
}

struct Printer<'a, W> {
    check: &'a SeriesCheck,
    out: W,
    width: usize,
    paint: Paint,
}

impl<W: Write> Printer<'_, W> {
    fn verdict(&mut self) -> io::Result<()> {
        for line in wrap(&statement::verdict(self.check), self.width) {
            writeln!(self.out, "{}", self.paint.paint(BOLD, &line))?;
        }
        writeln!(self.out)
    }

    fn builds(&mut self) -> io::Result<()> {
        self.commit("base", &self.check.base)?;
        let total = self.check.patches.len();
        for (index, patch) in self.check.patches.iter().enumerate() {
            self.commit(&format!("{}/{total}", index + 1), patch)?;
            self.lines(&statement::complaints(patch))?;
        }
        for also in &self.check.also {
            self.hanging("also", &statement::also(also))?;
            self.lines(&also.patches.iter().flat_map(statement::complaints).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn commit(&mut self, word: &str, commit: &Commit) -> io::Result<()> {
        let subject = safe_line(&commit.subject);
        let text = format!("{} (\"{subject}\"): {}", commit.short(), statement::built(commit));
        self.hanging(word, &text)
    }

    fn analysis(&mut self) -> io::Result<()> {
        let Some(analysis) = &self.check.analysis else { return Ok(()) };
        writeln!(self.out)?;
        self.hanging("analysis", &analysis::counted(analysis))?;
        let new = analysis::new(analysis, self.check.patches.len());
        for (word, finding) in new.iter().take(FINDINGS) {
            self.hanging(&format!("  {word}"), &analysis::line(finding))?;
            self.lines(&analysis::evidence(finding))?;
        }
        self.more(new.len().saturating_sub(FINDINGS))?;
        for finding in analysis.fixed.iter().take(FINDINGS) {
            self.hanging("  fixed", &analysis::line(finding))?;
        }
        self.more(analysis.fixed.len().saturating_sub(FINDINGS))?;
        analysis::omissions(analysis).iter().try_for_each(|omission| self.hanging("", omission))
    }

    fn cases(&mut self) -> io::Result<()> {
        let Some(tests) = &self.check.tests else { return Ok(()) };
        writeln!(self.out)?;
        self.hanging("cases", &statement::counted(tests))?;
        for change in &tests.changes {
            let (before, after) = (statement::seen(&change.before), statement::seen(&change.after));
            let text = format!("{}: before {before}; now {after}", safe_line(&change.case));
            self.hanging(&format!("  {}", statement::name(change.change)), &text)?;
            if let Some(culprit) = &change.culprit {
                self.hanging("", &statement::culprit(culprit, self.check.patches.len()))?;
            }
            let evidence: Vec<String> = change.after.evidence.iter().map(|line| safe_line(line)).collect();
            self.lines(&evidence)?;
        }
        Ok(())
    }

    fn costs(&mut self) -> io::Result<()> {
        if self.check.operations == 0 {
            return Ok(());
        }
        writeln!(self.out)?;
        self.hanging("costs", &statement::operations(self.check))?;
        for change in &self.check.costs {
            let text = format!("{} {}", safe_line(&change.operation), statement::difference(change));
            self.hanging(&format!("  {}", statement::name(change.change)), &text)?;
            if let Some(culprit) = &change.culprit {
                self.hanging("", &statement::culprit(culprit, self.check.patches.len()))?;
            }
            self.lines(&statement::functions(change))?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        for why in &self.check.unchecked {
            self.hanging("unchecked", &safe_line(why))?;
        }
        for note in &self.check.notes {
            self.hanging("note", &safe_line(note))?;
        }
        if self.check.reproduce.is_empty() {
            return Ok(());
        }
        // Commands are never cut nor wrapped: somebody is going to paste them.
        writeln!(self.out, "\nreproduce:")?;
        for command in &self.check.reproduce {
            writeln!(self.out, "  {}", safe_line(command))?;
        }
        Ok(())
    }

    fn hanging(&mut self, word: &str, text: &str) -> io::Result<()> {
        for line in hanging(word, INDENT, text, self.width) {
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        for line in lines.iter().take(LINES) {
            let room = self.width.saturating_sub(INDENT + 2);
            writeln!(self.out, "{:INDENT$}  {}", "", fit(line, room))?;
        }
        self.more(lines.len().saturating_sub(LINES))
    }

    fn more(&mut self, count: usize) -> io::Result<()> {
        match count {
            0 => Ok(()),
            more => {
                writeln!(self.out, "{:INDENT$}  {}", "", self.paint.paint(DIM, &format!("… {more} more")))
            }
        }
    }
}
