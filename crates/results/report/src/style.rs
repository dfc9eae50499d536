//! Colours.

use anstyle::{AnsiColor, Style};
use judge::Outcome;
use matrix::Light;
use verdict::Verdict;
use verdict::problem::State;

/// For what the eye may skip.
pub const DIM: Style = Style::new().dimmed();

/// For names.
pub const BOLD: Style = Style::new().bold();

/// The colour of an Outcome.
#[must_use]
pub fn of(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Crash | Outcome::Hang | Outcome::Fail => AnsiColor::Red.on_default().bold(),
        Outcome::Broken => AnsiColor::Magenta.on_default().bold(),
        Outcome::Skip => AnsiColor::Yellow.on_default(),
        Outcome::Pass => AnsiColor::Green.on_default(),
    }
}

/// The colour of a verdict.
pub(crate) fn of_verdict(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Worse => AnsiColor::Red.on_default().bold(),
        Verdict::Undecided => AnsiColor::Yellow.on_default(),
        Verdict::Better => AnsiColor::Green.on_default(),
        Verdict::Same => DIM,
    }
}

/// The colour of a cell of a matrix.
pub(crate) fn of_light(light: Light) -> Style {
    match light {
        Light::Green => AnsiColor::Green.on_default(),
        Light::Amber => AnsiColor::Yellow.on_default(),
        Light::Red => AnsiColor::Red.on_default().bold(),
    }
}

/// The colour of a problem's state.
#[must_use]
pub fn of_state(state: State) -> Style {
    match state {
        State::Open | State::Bisected => AnsiColor::Red.on_default().bold(),
        State::FixCandidate => AnsiColor::Yellow.on_default(),
        State::Verified => AnsiColor::Green.on_default(),
        State::Closed => DIM,
    }
}

/// Paints, or does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) colour: bool,
}

impl Paint {
    /// `text` in `style`, if there are colours.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}
