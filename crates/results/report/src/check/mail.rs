//! A check as the answer to its series: plain text of at most 72 columns, the verdict first.

use std::borrow::Cow;
use std::io::{self, Write};

use check::{Change, SeriesCheck, Verdict};
use series::{Person, Reply};

use super::{analysis, statement};
use crate::address::recipient;
use crate::columns::{fit, hanging, wrap};
use crate::header::{PLAIN_TEXT, encoded};
use crate::safe::safe_line;

/// Columns, as the kernel's lists have it.
const WIDTH: usize = 72;

/// Columns for the word before a line.
const INDENT: usize = 9;

/// Lines of a compiler for one patch, or of evidence for one case.
const LINES: usize = 6;

/// Findings, cases and operations that are described.
const CHANGES: usize = 10;

/// What an answer says besides the check.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// To whom it goes, and in which thread.
    pub reply: Reply,
    /// Who answers: as git has it.
    pub sender: Option<Person>,
    /// The call that does it again on the host of a reader.
    pub command: Vec<String>,
}

/// Writes the answer: headers, an empty line, and the body.
///
/// `Tested-by:` stands there only if cases ran and nothing is worse, different or undecided.
///
/// # Errors
///
/// When `out` does not take it.
pub fn mail(check: &SeriesCheck, answer: &Answer, out: impl Write) -> io::Result<()> {
    let mut draft = Draft { check, answer, out };
    draft.headers()?;
    draft.prose(&statement::verdict(check))?;
    draft.builds()?;
    draft.analysis()?;
    draft.cases()?;
    draft.costs()?;
    draft.end()?;
    draft.out.flush()
}

struct Draft<'a, W> {
    check: &'a SeriesCheck,
    answer: &'a Answer,
    out: W,
}

impl<W: Write> Draft<'_, W> {
    fn headers(&mut self) -> io::Result<()> {
        let reply = &self.answer.reply;
        if let Some(sender) = self.answer.sender.as_ref().and_then(address) {
            writeln!(self.out, "From: {sender}")?;
        }
        for (name, people) in [("To", &reply.to), ("Cc", &reply.cc)] {
            let people: Vec<String> = people.iter().filter_map(address).collect();
            if !people.is_empty() {
                writeln!(self.out, "{name}: {}", people.join(",\n    "))?;
            }
        }
        writeln!(self.out, "Subject: {}", encoded(&safe_line(&reply.subject)))?;
        if let Some(id) = reply.in_reply_to.as_deref().filter(|id| is_id(id)) {
            writeln!(self.out, "In-Reply-To: <{id}>")?;
        }
        let references: Vec<String> =
            reply.references.iter().filter(|id| is_id(id)).map(|id| format!("<{id}>")).collect();
        if !references.is_empty() {
            writeln!(self.out, "References: {}", references.join("\n "))?;
        }
        self.out.write_all(PLAIN_TEXT.as_bytes())
    }

    fn builds(&mut self) -> io::Result<()> {
        let base = &self.check.base;
        self.hanging(
            "base",
            &format!("{} (\"{}\"): {}", base.short(), safe_line(&base.subject), statement::built(base)),
        )?;
        let total = self.check.patches.len();
        for (index, patch) in self.check.patches.iter().enumerate() {
            let text = format!("{}: {}", safe_line(&patch.subject), statement::built(patch));
            self.hanging(&format!("{}/{total}", index + 1), &text)?;
            self.lines(&statement::complaints(patch))?;
        }
        for also in &self.check.also {
            self.hanging("also", &statement::also(also))?;
            self.lines(&also.patches.iter().flat_map(statement::complaints).collect::<Vec<_>>())?;
        }
        writeln!(self.out)
    }

    fn analysis(&mut self) -> io::Result<()> {
        let Some(analysis) = &self.check.analysis else { return Ok(()) };
        self.prose(&format!("Static analysis: {}.", analysis::counted(analysis)))?;
        let new = analysis::new(analysis, self.check.patches.len());
        for (word, finding) in new.iter().take(CHANGES) {
            self.hanging(word, &analysis::line(finding))?;
            self.lines(&analysis::evidence(finding))?;
        }
        if !new.is_empty() {
            writeln!(self.out)?;
        }
        self.more(new.len())?;
        let omissions = analysis::omissions(analysis);
        omissions
            .iter()
            .take(LINES)
            .try_for_each(|omission| self.prose(&format!("Not complete: {omission}.")))
    }

    fn cases(&mut self) -> io::Result<()> {
        let Some(tests) = &self.check.tests else { return Ok(()) };
        self.prose(&format!("Cases: {}.", statement::counted(tests)))?;
        for change in tests.changes.iter().take(CHANGES) {
            self.paragraph(&format!("{}: {}", statement::name(change.change), safe_line(&change.case)))?;
            self.hanging("  before", &statement::seen(&change.before))?;
            self.hanging("  now", &statement::seen(&change.after))?;
            if let Some(culprit) = &change.culprit {
                self.hanging("", &statement::culprit(culprit, self.check.patches.len()))?;
            }
            if change.change == Change::Worse {
                let evidence: Vec<String> =
                    change.after.evidence.iter().map(|line| safe_line(line)).collect();
                self.lines(&evidence)?;
            }
            writeln!(self.out)?;
        }
        self.more(tests.changes.len())
    }

    fn costs(&mut self) -> io::Result<()> {
        if self.check.operations == 0 {
            return Ok(());
        }
        self.prose(&format!("Instructions: {}.", statement::operations(self.check)))?;
        for change in self.check.costs.iter().take(CHANGES) {
            let text = format!("{} {}", safe_line(&change.operation), statement::difference(change));
            self.paragraph(&text)?;
            if let Some(culprit) = &change.culprit {
                self.hanging("", &statement::culprit(culprit, self.check.patches.len()))?;
            }
            self.lines(&statement::functions(change))?;
            writeln!(self.out)?;
        }
        self.more(self.check.costs.len())
    }

    fn end(&mut self) -> io::Result<()> {
        for why in &self.check.unchecked {
            self.prose(&format!("Not checked: {}.", safe_line(why)))?;
        }
        if !self.answer.command.is_empty() {
            self.prose("To reproduce, in a checkout of the tree:")?;
            for line in folded(&self.answer.command) {
                writeln!(self.out, "  {line}")?;
            }
        }
        let is_good = matches!(self.check.verdict, Verdict::Same | Verdict::Better);
        match &self.answer.sender {
            Some(sender) if is_good && self.check.tests.as_ref().is_some_and(|tests| tests.cases > 0) => {
                writeln!(self.out, "\nTested-by: {}", safe_line(&sender.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn more(&mut self, count: usize) -> io::Result<()> {
        match count.saturating_sub(CHANGES) {
            0 => Ok(()),
            more => self.prose(&format!("… {more} more.")),
        }
    }

    fn prose(&mut self, text: &str) -> io::Result<()> {
        self.paragraph(text)?;
        writeln!(self.out)
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        wrap(text, WIDTH).iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn hanging(&mut self, word: &str, text: &str) -> io::Result<()> {
        let indent = INDENT.max(word.len() + 1);
        hanging(word, indent, text, WIDTH)
            .iter()
            .try_for_each(|line| writeln!(self.out, "{}", line.trim_end()))
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        let room = WIDTH - INDENT;
        lines.iter().take(LINES).try_for_each(|line| writeln!(self.out, "{:INDENT$}{}", "", fit(line, room)))
    }
}

fn address(person: &Person) -> Option<String> {
    recipient(&format!("{} <{}>", person.name, person.address))
}

/// Whether it can stand between brackets in a header.
fn is_id(id: &str) -> bool {
    id.contains('@') && id.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte))
}

/// A call of kiln in lines that a shell joins.
fn folded(words: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = "kiln".to_owned();
    for word in words {
        let word = shlex::try_quote(word).map(Cow::into_owned).unwrap_or_default();
        if line.len() + word.len() + " \\".len() + INDENT > WIDTH {
            lines.push(format!("{line} \\"));
            line = format!("  {word}");
        } else {
            line = format!("{line} {word}");
        }
    }
    lines.push(line);
    lines
}
