//! The verdict as a text for people, and as an exit code.

use protocol::End;
use protocol::results::cut;

use super::control::Control;
use crate::case::shell::not_found;
use crate::case::{Dialect, Judgement};
use crate::exit::Exit;
use crate::outcome::{Accused, Blame};
use crate::run::Summary;

/// Lines that are shown of one kind of evidence.
const SHOWN: usize = 30;

/// Longest line that is shown, in bytes; the rest is cut off.
const LINE_MAX: usize = 4096;

/// What is said about a Run.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// A line for the boot, if it went wrong, and one for the case, each with what shows it.
    pub text: String,
    summary: Summary,
    exit: Option<Exit>,
}

impl Verdict {
    /// The exit code: of all Outcomes together, or the program's own.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit.unwrap_or_else(|| Exit::of_session(self.summary, false))
    }

    /// It is the user's own program, which ended so.
    pub(super) fn pass_on(&mut self, end: Option<&End>, accused: Option<Accused>) {
        self.exit = Some(Exit::of_program(self.summary, false, (end, accused)));
    }

    /// The line of a case or of the boot.
    pub(super) fn conclude(&mut self, name: &str, judgement: &Judgement) {
        let whose = match judgement.blame {
            Some(Blame::Kiln) => "by kiln: ".to_string(),
            Some(blame) => format!("by the {}: ", blame.name()),
            None => String::new(),
        };
        let why = format!("{whose}{}", judgement.reason.replace('\n', " ").trim_start());
        let separator = if why.is_empty() { "" } else { ": " };
        self.line(&format!("{:<6}  {name}{separator}{why}", judgement.outcome.name()));
        self.summary.count(judgement.outcome);
    }

    /// Lines that show it: the last ones of an output or a console, the first ones of all else.
    pub(super) fn show(&mut self, label: &str, lines: &[String]) {
        let lines: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
        let is_tail = matches!(label, "output" | "shows");
        let skipped = if is_tail { lines.len().saturating_sub(SHOWN) } else { 0 };
        for line in lines.into_iter().skip(skipped).take(SHOWN) {
            self.line(&format!("        {label:<6}  {}", line.replace('\n', " ")));
        }
    }

    /// What else is worth knowing.
    pub(super) fn note(&mut self, control: &Control, dialect: Dialect) {
        let missing = if dialect == Dialect::Kiln { Vec::new() } else { not_found(&control.output) };
        let missing = missing.iter().map(|command| format!("its shell did not find {command}"));
        let left = control.leftovers.iter().map(|what| format!("left behind: {what}"));
        let troubles = control.troubles.iter().map(|what| format!("agent: {what}"));
        self.show("note", &missing.chain(left).chain(troubles).collect::<Vec<_>>());
    }

    /// A line of which a terminal obeys nothing; it can hold what a guest wrote.
    fn line(&mut self, line: &str) {
        let harmless = |letter: char| if letter.is_control() && letter != '\t' { '?' } else { letter };
        self.text.extend(cut(line, LINE_MAX).chars().map(harmless));
        self.text.push('\n');
    }
}
