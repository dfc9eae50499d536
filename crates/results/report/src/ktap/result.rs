//! Lines of results and what stands before them.

use judge::{Blame, Outcome, Run};

use crate::evidence::{self, Evidence};
use crate::repeats::repeats;
use crate::safe::safe_line;
use crate::words::{span, why};

/// What is known of a case.
#[derive(Debug)]
pub(super) enum Slot {
    /// Nothing yet.
    Waiting,
    /// It says nothing about the kernel; why, as diagnostics.
    Silent(Vec<String>),
    /// It has a result.
    Done(Done),
}

/// The result of a case.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) ok: bool,
    pub(super) skip: bool,
    pub(super) directive: String,
    pub(super) diagnostics: Vec<String>,
}

impl Slot {
    /// The diagnostics of a case without a result.
    pub(super) fn silence(&self) -> &[String] {
        match self {
            Self::Silent(lines) => lines,
            Self::Waiting | Self::Done(_) => &[],
        }
    }
}

/// What `run` has to say.
pub(super) fn slot(run: &Run) -> Slot {
    let diagnostics = diagnostics(run);
    let reason = directive_text(&run.reason);
    let (ok, directive) = match (run.outcome, run.blame) {
        (Outcome::Broken, Some(Blame::Machine | Blame::Host | Blame::Kiln)) => {
            return Slot::Silent(diagnostics);
        }
        (Outcome::Pass, _) if run.expected_failure => (true, format!("XFAIL {reason}")),
        (Outcome::Pass, _) => (true, String::new()),
        (Outcome::Skip, _) => (true, format!("SKIP {reason}")),
        (Outcome::Fail, _) => (false, String::new()),
        (Outcome::Crash, _) => {
            (false, format!("ERROR panic: {}", reason.trim_start_matches("Kernel panic: ")))
        }
        (Outcome::Hang, _) => (false, format!("TIMEOUT {} seconds", run.duration.as_secs_f64().ceil())),
        (Outcome::Broken, Some(Blame::Case) | None) => (false, format!("ERROR {reason}")),
    };
    Slot::Done(Done { ok, skip: run.outcome == Outcome::Skip, directive, diagnostics })
}

/// What stands before the result of `run`. Evidence is indented once more: what a guest writes must not
/// look like a header of ours.
pub(super) fn diagnostics(run: &Run) -> Vec<String> {
    if run.outcome == Outcome::Skip {
        return Vec::new();
    }
    // KUnit's `# name: text` has no blank in its name; with one, `Subtest: x` would begin a level.
    let case = safe_line(&run.case).replace(' ', "_");
    let repeats = repeats(run).map(|repeats| format!("# repeats: {repeats}"));
    if run.outcome == Outcome::Pass {
        let took = format!("# {case}: {}", span(run.duration));
        let lacking = evidence::not_found(run).map(|lacking| format!("# note: {lacking}"));
        return std::iter::once(took).chain(repeats).chain(lacking).collect();
    }
    let Evidence { lines, more } = evidence::collect(run, evidence::LINES);
    let took = (!run.duration.is_zero()).then(|| format!(" after {}", span(run.duration)));
    let head = format!("# {case}: {}{}: {}", run.outcome.name(), took.unwrap_or_default(), why(run));
    let lines = lines.into_iter().map(|(label, line)| format!("#   {label}: {line}"));
    let more = (more > 0).then(|| format!("#   … {more} more lines"));
    std::iter::once(head).chain(repeats).chain(lines).chain(more).collect()
}

/// A result line; an empty directive is left out.
pub(super) fn line(ok: bool, number: usize, name: &str, directive: &str) -> String {
    let ok = if ok { "ok" } else { "not ok" };
    // A dash may stand before any description, so that readers drop one.
    let dash = if name.starts_with('-') { "- " } else { "" };
    let separator = if directive.is_empty() { "" } else { " # " };
    format!("{ok} {number} {dash}{name}{separator}{directive}")
}

/// A description: one line without `#`.
pub(super) fn name(text: &str) -> String {
    safe_line(text).replace('#', "_")
}

/// Text after a directive: one line in which no other directive can begin.
pub(super) fn directive_text(text: &str) -> String {
    safe_line(text).replace('#', "\\#")
}
