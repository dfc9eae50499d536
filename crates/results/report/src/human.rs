//! The summary at the end of a session, for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use judge::{Outcome, Run, Summary};
use lab::event::Session;
use lab::{Event, Listener};

use crate::evidence::{self, Evidence};
use crate::progress::Progress;
use crate::repeats::repeats;
use crate::safe::safe_line;
use crate::sink::Sink;
use crate::style::{BOLD, DIM, Paint, of};
use crate::words::{cases, kernel, span, tally, why};

/// Cases that passed each time and are still named: what went well needs no long list.
const NAMES_MAX: usize = 8;

/// Lines of evidence of a defect of the kernel, which is shown only once: enough for its whole trace.
const DEFECT_LINES: usize = 80;

/// Prints at the end what went wrong and what shows it, the worst first, then skips and totals.
#[derive(Debug)]
pub struct Human<W> {
    sink: Sink<W>,
    paint: Paint,
    results: Option<PathBuf>,
    replayed_as: Option<String>,
    session: Option<Session>,
    progress: Progress,
    bad: Vec<Bad>,
    skips: Groups,
    /// Cases that failed as they expected to.
    expected: Vec<String>,
    /// Cases that passed more than once, by what that says.
    steady: Groups,
    /// Cases that passed without all commands of their scripts.
    lacking: Groups,
}

/// What went wrong. It is rendered when it happens: a Run is much larger than what is shown of it.
#[derive(Debug)]
struct Bad {
    outcome: Outcome,
    case: String,
    block: String,
    is_repeated: bool,
    /// What the kernel reported, if that is the reason.
    defects: Option<BTreeSet<String>>,
    /// Other cases with the same defect.
    also: Vec<String>,
}

/// Cases that have a text in common.
type Groups = Vec<(String, Vec<String>)>;

impl<W: Write> Human<W> {
    /// A summary on `out`; `results` is where everything that happened is kept.
    pub fn new(out: W, colour: bool, results: Option<PathBuf>) -> Self {
        Self {
            sink: Sink::new(out),
            paint: Paint { colour },
            results,
            replayed_as: None,
            session: None,
            progress: Progress::default(),
            bad: Vec::new(),
            skips: Vec::new(),
            expected: Vec::new(),
            steady: Vec::new(),
            lacking: Vec::new(),
        }
    }

    /// Also says how to run a failing case again: `session` is what `kiln replay` takes for this session.
    #[must_use]
    pub fn replayed_as(self, session: String) -> Self {
        Self { replayed_as: Some(session), ..self }
    }

    /// Ends the report and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }

    fn finished(&mut self, run: &Run) {
        self.progress.finish(run);
        let case = safe_line(&run.case);
        match run.outcome {
            Outcome::Pass => {
                if let Some(repeats) = repeats(run) {
                    group(&mut self.steady, repeats, case.clone());
                }
                if let Some(lacking) = evidence::not_found(run) {
                    group(&mut self.lacking, lacking, case.clone());
                }
                if run.expected_failure {
                    self.expected.push(case);
                }
            }
            Outcome::Skip => group(&mut self.skips, safe_line(&run.reason), case),
            _ => self.failed(run, case),
        }
    }

    /// A defect of the kernel is shown once, however many cases it spoils.
    fn failed(&mut self, run: &Run, case: String) {
        let defects = run.defects().map(|all| all.into_iter().map(str::to_string).collect());
        let (outcome, is_repeated) = (run.outcome, repeats(run).is_some());
        let new = Bad { outcome, case, block: self.block(run), is_repeated, defects, also: Vec::new() };
        let is_same = |bad: &&mut Bad| bad.outcome == new.outcome && bad.defects == new.defects;
        match self.bad.iter_mut().find(is_same).filter(|_| new.defects.is_some()) {
            // The one that was repeated says how often the defect comes, and ends last.
            Some(bad) if new.is_repeated && !bad.is_repeated => {
                let Bad { case, mut also, .. } = std::mem::replace(bad, new);
                also.push(case);
                bad.also = also;
            }
            Some(bad) => bad.also.push(new.case),
            None => self.bad.push(new),
        }
    }

    /// A Run that did not go well: name, reason, repeats, purpose, evidence.
    fn block(&self, run: &Run) -> String {
        let word = self.paint.paint(of(run.outcome), &format!("{:<6}", run.outcome.name()));
        let case = self.paint.paint(BOLD, &safe_line(&run.case));
        let place = match (run.boot, run.clone) {
            (0, 0) => None,
            (boot, 0) => Some(format!("boot {boot}")),
            (_, clone) => Some(format!("clone {clone}")),
        };
        let took = (!run.duration.is_zero()).then(|| span(run.duration));
        let facts = place.into_iter().chain(took).collect::<Vec<_>>().join(", ");
        let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
        let mut text = String::new();
        push(&mut text, &format!("{word}  {case}{facts}"));
        let why = Some(why(run)).filter(|why| !why.is_empty());
        let about = Some(safe_line(&run.about)).filter(|about| !about.is_empty());
        let about = about.map(|about| self.paint.paint(DIM, &format!("verifies: {about}")));
        for line in why.into_iter().chain(repeats(run)).chain(about) {
            push(&mut text, &format!("        {line}"));
        }
        let lines = if run.defect().is_some() { DEFECT_LINES } else { evidence::LINES };
        self.push_evidence(&mut text, &evidence::collect(run, lines));
        if let Some(session) = &self.replayed_as {
            let command = quoted(&safe_line(&format!("{session}/{}", run.case)));
            push(
                &mut text,
                &format!("        {}", self.paint.paint(DIM, &format!("replay  kiln replay {command}"))),
            );
        }
        text
    }

    fn push_evidence(&self, text: &mut String, evidence: &Evidence) {
        for (label, line) in &evidence.lines {
            push(text, &format!("        {}  {line}", self.paint.paint(DIM, &format!("{label:<6}"))));
        }
        if evidence.more > 0 {
            let place = self.results.as_ref().map(|results| format!(" in {}", results.display()));
            let noun = if evidence.more == 1 { "line" } else { "lines" };
            let more = format!("… {} more {noun}{}", evidence.more, place.unwrap_or_default());
            push(text, &format!("        {}", self.paint.paint(DIM, &safe_line(&more))));
        }
    }

    fn ended(&mut self, summary: Summary, took: Duration, interrupted: bool) {
        let rank = |outcome: Outcome| Outcome::ALL.iter().position(|&other| other == outcome);
        self.bad.sort_by_key(|bad| rank(bad.outcome));
        let mut text = String::new();
        for Bad { block, also, .. } in &self.bad {
            text += block;
            if !also.is_empty() {
                let noun = if also.len() == 1 { "case" } else { "cases" };
                let (count, names) = (also.len(), also.join(" "));
                push(&mut text, &format!("        the same in {count} more {noun}: {names}"));
            }
            text.push('\n');
        }
        text += &self.groups_text();
        if let Some(session) = &self.session {
            push(&mut text, &format!("{} on {}", kernel(session), safe_line(&session.machine)));
        }
        push(&mut text, &self.total(summary, took, interrupted));
        if let Some(results) = &self.results {
            push(&mut text, &format!("results in {}", safe_line(&results.display().to_string())));
        }
        self.sink.write(&text);
        self.sink.flush();
    }

    /// What takes one line for many cases.
    fn groups_text(&self) -> String {
        let mut skips: Vec<_> = self.skips.iter().collect();
        skips.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
        let word = self.paint.paint(of(Outcome::Skip), "skip  ");
        let mut text = String::new();
        for (reason, names) in &skips {
            push(&mut text, &format!("{word}  {reason}: {}", names.join(" ")));
        }
        let word = self.paint.paint(of(Outcome::Pass), "pass  ");
        for (lacking, names) in &self.lacking {
            push(&mut text, &format!("{word}  but {lacking}: {}", names.join(" ")));
        }
        for (repeats, names) in &self.steady {
            let all = names.len() > NAMES_MAX;
            let names = if all { cases(names.len()) } else { names.join(" ") };
            push(&mut text, &format!("{word}  {repeats}: {names}"));
        }
        if !self.expected.is_empty() {
            push(&mut text, &format!("{word}  expected failure: {}", self.expected.join(" ")));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    fn total(&self, summary: Summary, took: Duration, interrupted: bool) -> String {
        let counts = tally(summary).into_iter().map(|(outcome, text)| match outcome {
            Some(outcome) => self.paint.paint(of(outcome), &text),
            None => text,
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        let counts = if counts.is_empty() { String::new() } else { format!(": {counts}") };
        let conclusion = self.paint.paint(BOLD, &self.progress.conclusion(summary, interrupted));
        format!("{} in {}{counts}; {conclusion}", cases(self.progress.total), span(took))
    }
}

impl<W: Write> Listener for Human<W> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Planned(session) => {
                self.progress.plan(session);
                self.session = Some((**session).clone());
            }
            Event::Booted { release, .. } => {
                if let Some(session) = &mut self.session {
                    session.release.get_or_insert_with(|| release.clone());
                }
            }
            Event::Finished(run) => self.finished(run),
            Event::Ended { summary, took, interrupted, .. } => self.ended(*summary, *took, *interrupted),
            _ => {}
        }
    }
}

fn group(groups: &mut Groups, text: String, case: String) {
    match groups.iter_mut().find(|(known, _)| *known == text) {
        Some((_, cases)) => cases.push(case),
        None => groups.push((text, vec![case])),
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=+,./:@%".contains(&b));
    if is_plain { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn push(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}
