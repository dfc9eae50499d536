//! The verdict as a text for people, and as an exit code.

use protocol::results::cut;

use super::control::Control;
use crate::case::Judgement;
use crate::outcome::Blame;
use crate::run::Summary;

/// Lines that are shown of one kind of evidence.
const SHOWN: usize = 30;

/// Longest line that is shown, in bytes; the rest is cut off.
const LINE_MAX: usize = 4096;

/// The exit code where a program's own cannot be one.
const BROKEN: u8 = 3;

/// What is said about a Run.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// A line for the boot, if it went wrong, and one for the case, each with what shows it.
    pub text: String,
    summary: Summary,
    /// The exit status of the user's own program, if it is passed on.
    pub passed_on: Option<i32>,
}

impl Verdict {
    /// The exit code: of all Outcomes together, or the program's own.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.passed_on.map_or(self.summary.exit_code(), |code| u8::try_from(code).unwrap_or(BROKEN))
    }

    pub(super) fn is_broken(&self) -> bool {
        self.summary.broken > 0
    }

    pub(super) fn pass_on(&mut self, code: i32) {
        self.passed_on = Some(code);
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
    pub(super) fn note(&mut self, control: &Control) {
        let left = control.leftovers.iter().map(|what| format!("left behind: {what}"));
        let troubles = control.troubles.iter().map(|what| format!("agent: {what}"));
        self.show("note", &left.chain(troubles).collect::<Vec<_>>());
    }

    /// A line of which a terminal obeys nothing; it can hold what a guest wrote.
    fn line(&mut self, line: &str) {
        let harmless = |letter: char| if letter.is_control() && letter != '\t' { '?' } else { letter };
        self.text.extend(cut(line, LINE_MAX).chars().map(harmless));
        self.text.push('\n');
    }
}
