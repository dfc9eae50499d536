//! A bisection as the draft of a mail: what the kernel's document on regressions asks for
//! (Documentation/admin-guide/reporting-regressions.rst), for a person to read, to change and to send.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use bisect::Kind;
use bisect::{Bisection, Changes, Conclusion, StateReport};
use unicode_width::UnicodeWidthStr;

use super::candidate::{self, absent, is_setting};
use super::changes::{Excerpt, excerpt, item};
use super::difference::between;
use super::functions::functions;
use super::private::Private;
use super::relevance::wanted;
use super::sides::{Sides, sides};
use super::statement;
use super::walk::Walk;
use crate::address::recipient;
use crate::columns::{fit, hanging, wrap};
use crate::evidence;
use crate::header::{PLAIN_TEXT, encoded};
use crate::safe::safe_line;
use crate::words::many;

/// Columns of prose, as the kernel's lists have it.
const WIDTH: usize = 72;

/// Columns of a line that is quoted as it is; RFC 5322 allows no more than 998 bytes.
const QUOTED: usize = 160;

/// Columns of the subject, if the title of a change is all that must be cut for it.
const SUBJECT: usize = 75;

/// Columns of a title of which less tells nothing.
const TITLE: usize = 8;

/// Columns of a subject without a title at most.
const LONGEST: usize = 120;

/// Columns of what went wrong in a subject: the rest of [`LONGEST`] holds the hash of a commit.
const SYMPTOM: usize = 80;

/// Columns for the word before a fact.
const INDENT: usize = 11;

/// Files of a change.
const FILES: usize = 12;

/// Lines of evidence of one side.
const EVIDENCE: usize = 16;

/// Lines in which the logs differ.
const DIFFERENCE: usize = 40;

/// How lines begin that kiln writes for its user: they point to files of the sender's host.
const ASIDE: &str = "kiln: ";

/// Where regressions of the kernel are tracked.
const REGRESSIONS: &str = "regressions@lists.linux.dev";

/// Writes the draft: headers, an empty line, and a body that says nothing which is not known, and of the user's paths only
/// their last parts. `bundle` is a file that reproduces the failure without kiln, if there is one.
///
/// It goes to the author of the change. Whoever else has to know of it stands in the source tree
/// (its `get_maintainer.pl` knows) and is left to the sender.
///
/// # Errors
///
/// When `out` does not take it.
pub fn mail(
    bisection: &Bisection,
    bundle: Option<&Path>,
    private: &Private,
    out: impl Write,
) -> io::Result<()> {
    let mut draft = Draft { bisection: &private.hidden_in(bisection)?, out };
    draft.headers()?;
    draft.finding()?;
    draft.sides()?;
    draft.proof()?;
    draft.reproduce(bundle)?;
    draft.end()?;
    draft.out.flush()
}

struct Draft<'a, W> {
    bisection: &'a Bisection,
    out: W,
}

impl<W: Write> Draft<'_, W> {
    fn headers(&mut self) -> io::Result<()> {
        // A dot that is three would make the whole line one of encoded words.
        writeln!(self.out, "Subject: {}", encoded(&subject(self.bisection).replace('…', "...")))?;
        let (candidates, _) = candidate::listed(self.bisection);
        let authors = candidates.iter().filter_map(|candidate| recipient(candidate.author.as_deref()?));
        let mut to: Vec<String> = authors.collect();
        to.sort();
        to.dedup();
        if !to.is_empty() {
            writeln!(self.out, "To: {}", to.join(",\n    "))?;
        }
        if is_regression(self.bisection) {
            writeln!(self.out, "Cc: {REGRESSIONS}")?;
        }
        self.out.write_all(PLAIN_TEXT.as_bytes())
    }

    fn finding(&mut self) -> io::Result<()> {
        self.prose("Hello,")?;
        self.prose(&format!(
            "I searched {} for {} with kiln bisect: {}.",
            Walk::from(self.bisection).range(),
            Walk::from(self.bisection).question(),
            statement::verdict(self.bisection)
        ))?;
        let (candidates, rest) = candidate::listed(self.bisection);
        let words = wanted(self.bisection);
        for candidate in candidates {
            for (word, text) in candidate::facts(self.bisection.kind, candidate, FILES) {
                self.fact(word, &text)?;
            }
            self.changes(&words, &candidate.changes, candidates.len())?;
            writeln!(self.out)?;
        }
        if let Some(text) = rest {
            self.prose(&format!("{text}."))?;
        }
        for text in statement::untestable(self.bisection) {
            self.prose(&format!("{text}."))?;
        }
        Ok(())
    }

    /// What is new in one of so many candidates.
    fn changes(&mut self, words: &BTreeSet<String>, changes: &Changes, candidates: usize) -> io::Result<()> {
        let Some(Excerpt { head, entries, .. }) = excerpt(words, changes, candidates) else {
            return Ok(());
        };
        self.fact("changes", &head)?;
        for line in entries.iter().flat_map(|entry| item(entry, INDENT, WIDTH - 2)) {
            writeln!(self.out, "  {}", line.trim_end())?;
        }
        Ok(())
    }

    fn sides(&mut self) -> io::Result<()> {
        let sides = sides(self.bisection);
        let [without, with] = statement::roles(self.bisection);
        self.side(without, sides.without)?;
        self.side(with, sides.with)?;
        if let Some(text) = statement::metric(self.bisection, sides) {
            let threshold = statement::threshold(self.bisection).map(|text| format!("; {text}"));
            self.prose(&format!("The difference is {text}{}.", threshold.unwrap_or_default()))?;
        }
        let functions = functions(sides);
        for line in &functions {
            self.quoted(line)?;
        }
        if !functions.is_empty() {
            writeln!(self.out)?;
        }
        self.logs(sides)
    }

    fn side(&mut self, role: &str, state: &StateReport) -> io::Result<()> {
        let seen = Walk::from(self.bisection).seen(state);
        self.paragraph(&format!("{}, on {}: {seen}.", statement::capital(role), statement::place(state)))?;
        if let Some(run) = &state.evidence.run {
            self.quoted(&format!(
                "{} {}: {}",
                run.outcome.name(),
                safe_line(&run.case),
                safe_line(&run.reason)
            ))?;
            let evidence = evidence::of_failure(run, EVIDENCE);
            for (_, line) in &evidence.lines {
                self.quoted(line)?;
            }
        }
        let lines = state.evidence.lines.iter().filter(|line| !line.starts_with(ASIDE));
        for line in lines.take(EVIDENCE) {
            self.quoted(&safe_line(line))?;
        }
        writeln!(self.out)
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
        self.paragraph(&format!(
            "Differences between the kernel logs (- only {without}, + only {with}; numbers are ignored):"
        ))?;
        for (sign, line) in &difference.lines {
            self.quoted(&format!("{sign} {line}"))?;
        }
        if difference.more > 0 {
            self.quoted(&format!("… {} more", difference.more))?;
        }
        writeln!(self.out)
    }

    fn proof(&mut self) -> io::Result<()> {
        self.paragraph(&format!("Confidence: {}.", statement::sureness(self.bisection).join("; ")))?;
        for check in &self.bisection.proof {
            for line in hanging("  -", 4, &statement::check_in_words(self.bisection, check), WIDTH) {
                writeln!(self.out, "{line}")?;
            }
        }
        writeln!(self.out)?;
        let [states, runs] = statement::steps(self.bisection);
        self.prose(&format!("Effort: {states}; {runs}."))?;
        for note in &self.bisection.notes {
            self.prose(&format!("Note: {}.", safe_line(note)))?;
        }
        Ok(())
    }

    fn reproduce(&mut self, bundle: Option<&Path>) -> io::Result<()> {
        if !self.bisection.reproduce.is_empty() {
            self.paragraph("To reproduce both sides:")?;
            for command in &self.bisection.reproduce {
                // Not cut: somebody is going to paste it.
                writeln!(self.out, "  {}", safe_line(command))?;
            }
            writeln!(self.out)?;
        }
        let Some(bundle) = bundle else { return Ok(()) };
        let name = bundle.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.prose(&format!(
            "The attached file {} reproduces the failure with nothing but QEMU and a shell; see its README.",
            safe_line(&name)
        ))
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(hash) = statement::introduced(self.bisection) {
            writeln!(self.out, "#regzbot introduced: {hash}")?;
        }
        Ok(())
    }

    /// A paragraph and an empty line.
    fn prose(&mut self, text: &str) -> io::Result<()> {
        self.paragraph(text)?;
        writeln!(self.out)
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        for line in wrap(text, WIDTH) {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn fact(&mut self, word: &str, text: &str) -> io::Result<()> {
        for line in hanging(word, INDENT, text, WIDTH - 2) {
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    /// A line as a program or a kernel wrote it.
    fn quoted(&mut self, line: &str) -> io::Result<()> {
        let line: String = line.chars().take(QUOTED).collect();
        writeln!(self.out, "  {}", fit(&line, QUOTED).trim_end_matches([':', ' ']))
    }
}

/// What it is about, in one line.
fn subject(bisection: &Bisection) -> String {
    let symptom = fit(&statement::symptom(&bisection.question), SYMPTOM);
    let tag = if is_regression(bisection) { "[REGRESSION] " } else { "" };
    let (which, title) = match &bisection.conclusion {
        Conclusion::Contradiction { .. } => {
            return format!("{symptom}: no {} explains it", bisection.kind.noun());
        }
        Conclusion::Culprits { candidates, .. } => match &candidates[..] {
            [candidate] => candidate::name_and_title(candidate),
            _ => (format!("{} together", many(bisection.kind, candidates.len())), String::new()),
        },
        Conclusion::Suspects { candidates, .. } => {
            (format!("one of {}", many(bisection.kind, candidates.len())), String::new())
        }
    };
    // To be with the absence of a parameter is to be without it.
    let absent = match &bisection.conclusion {
        Conclusion::Culprits { candidates, .. } if candidates.len() == 1 => absent(&candidates[0]),
        _ => None,
    };
    let since = match (is_setting(bisection.kind), bisection.fixed != absent.is_some()) {
        (true, true) => "without",
        (true, false) => "with",
        (false, true) => "until",
        (false, false) => "since",
    };
    let which = absent.unwrap_or(which);
    titled(&fit(&format!("{tag}{symptom} {since} {which}"), LONGEST), &title)
}

/// `line` with as much of a title behind it as there is room for in a subject.
fn titled(line: &str, title: &str) -> String {
    // What is no column wide must not make it longer than a header may be.
    let bounded = |text: &str, most: usize| -> String { text.chars().take(most).collect() };
    let (line, title) = (bounded(line, LONGEST), bounded(title, SUBJECT));
    let room = SUBJECT.saturating_sub(line.width() + " (\"\")".len());
    if title.is_empty() || title.width() > room && room < TITLE {
        return line;
    }
    format!("{line} (\"{}\")", fit(&title, room))
}

/// Whether it is something for those who track regressions of the kernel.
fn is_regression(bisection: &Bisection) -> bool {
    let is_found = !matches!(bisection.conclusion, Conclusion::Contradiction { .. });
    bisection.kind == Kind::Commits && !bisection.fixed && is_found
}
