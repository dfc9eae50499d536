//! What one state without the change and one with it show.

use bisect::{Bisection, StateReport};

use super::super::difference::{Difference, between};
use super::super::functions::functions;
use super::super::sides::{Sides, sides};
use super::super::statement;
use crate::evidence;
use crate::html::{Markup, command};
use crate::safe::safe_line;

/// Lines of evidence of one side.
const EVIDENCE: usize = 40;

/// Lines in which the logs differ.
const DIFFERENCE: usize = 200;

/// Both sides and how they differ.
pub(super) fn both(markup: &mut Markup, bisection: &Bisection) {
    let sides = sides(bisection);
    let [without, with] = statement::roles(bisection);
    side(markup, bisection, without, sides.without);
    side(markup, bisection, with, sides.with);
    if let Some(text) = statement::metric(bisection, sides) {
        markup.plain("p", format!("difference: {text}"));
    }
    if let Some(text) = statement::threshold(bisection) {
        markup.plain("p", text);
    }
    let changed: Vec<_> = functions(sides).into_iter().map(|line| ("", line)).collect();
    preformatted(markup, &changed, 0);
    logs(markup, sides, [without, with]);
}

fn side(markup: &mut Markup, bisection: &Bisection, role: &str, state: &StateReport) {
    markup.element("article", &[], |markup| {
        markup.plain("h3", format!("{}: {}", statement::capital(role), statement::place(state)));
        markup.plain("p", statement::seen(bisection, state));
        if !state.evidence.command.is_empty() {
            command(markup, &state.evidence.command);
        }
        let run = state.evidence.run.as_deref();
        if let Some(run) = run {
            let reason =
                format!("{} {}: {}", run.outcome.name(), safe_line(&run.case), safe_line(&run.reason));
            markup.plain("p", reason.trim_end_matches([':', ' ']));
        }
        let shown = run.map(|run| evidence::of_failure(run, EVIDENCE));
        let (lines, more) = shown.map(|shown| (shown.lines, shown.more)).unwrap_or_default();
        let lines = lines
            .into_iter()
            .map(|(_, line)| line)
            .chain(state.evidence.lines.iter().take(EVIDENCE).cloned());
        let more = more + state.evidence.lines.len().saturating_sub(EVIDENCE);
        preformatted(markup, &lines.map(|line| ("", line)).collect::<Vec<_>>(), more);
    });
    markup.line();
}

fn logs(markup: &mut Markup, sides: Sides<'_>, [without, with]: [&str; 2]) {
    let (Some(first), Some(second)) = (&sides.without.evidence.run, &sides.with.evidence.run) else { return };
    let Difference { lines, more } = between(first, second, DIFFERENCE);
    if lines.is_empty() {
        return;
    }
    markup.plain("h3", "Kernel logs");
    markup.plain("p", format!("- only {without}, + only {with}; numbers are not compared"));
    let class = |sign| if sign == '-' { "gone" } else { "new" };
    let lines: Vec<_> =
        lines.into_iter().map(|(sign, line)| (class(sign), format!("{sign} {line}"))).collect();
    preformatted(markup, &lines, more);
}

/// Lines as a program wrote them, each with its class.
fn preformatted(markup: &mut Markup, lines: &[(&str, String)], more: usize) {
    if lines.is_empty() {
        return;
    }
    markup.element("pre", &[], |markup| {
        for (class, line) in lines {
            markup.leaf("span", &[("class", class)], line);
            markup.line();
        }
    });
    if more > 0 {
        markup.leaf("p", &[("class", &"note")], format!("{more} more lines"));
    }
}
