//! What one state without the change and one with it show.

use bisect::{Bisection, StateReport};
use maud::{Markup, html};

use super::super::difference::{Difference, between};
use super::super::functions::functions;
use super::super::sides::{Sides, sides};
use super::super::statement;
use super::super::walk::Walk;
use crate::evidence;
use crate::html::{command, text};
use crate::safe::safe_line;

/// Lines of evidence of one side.
const EVIDENCE: usize = 40;

/// Lines in which the logs differ.
const DIFFERENCE: usize = 200;

/// Blanks at the beginning of a line at most.
const INDENT: usize = 16;

/// Both sides and how they differ.
pub(super) fn both(bisection: &Bisection) -> Markup {
    let sides = sides(bisection);
    let [without, with] = statement::roles(bisection);
    let functions: Vec<_> = functions(sides).into_iter().map(|line| ("", line)).collect();
    html! {
        (side(bisection, without, sides.without))
        (side(bisection, with, sides.with))
        @if let Some(metric) = statement::metric(bisection, sides) { p { "change: " (text(metric)) } }
        @if let Some(threshold) = statement::threshold(bisection) { p { (text(threshold)) } }
        (preformatted(&functions, 0))
        (logs(sides, [without, with]))
    }
}

fn side(bisection: &Bisection, role: &str, state: &StateReport) -> Markup {
    let run = state.evidence.run.as_deref();
    let reason = |run: &judge::Run| {
        let reason = format!("{} {}: {}", run.outcome.name(), safe_line(&run.case), safe_line(&run.reason));
        text(reason.trim_end_matches([':', ' ']))
    };
    let evidence = run.map(|run| evidence::of_failure(run, EVIDENCE));
    let (lines, more) = evidence.map(|evidence| (evidence.lines, evidence.more)).unwrap_or_default();
    let own = state.evidence.lines.iter().take(EVIDENCE).cloned();
    let lines: Vec<_> = lines.into_iter().map(|(_, line)| line).chain(own).map(|line| ("", line)).collect();
    let more = more + state.evidence.lines.len().saturating_sub(EVIDENCE);
    html! {
        article {
            h3 { (statement::capital(role)) ": " (text(statement::place(state))) }
            p { (text(Walk::from(bisection).seen(state))) }
            @if !state.evidence.command.is_empty() { (command(&state.evidence.command)) }
            @if let Some(run) = run { p { (reason(run)) } }
            (preformatted(&lines, more))
        }
        "\n"
    }
}

fn logs(sides: Sides<'_>, [without, with]: [&str; 2]) -> Markup {
    let runs = sides.without.evidence.run.as_ref().zip(sides.with.evidence.run.as_ref());
    let Difference { lines, more } =
        runs.map(|(first, second)| between(first, second, DIFFERENCE)).unwrap_or_default();
    let class = |sign| if sign == '-' { "gone" } else { "new" };
    let lines: Vec<_> =
        lines.into_iter().map(|(sign, line)| (class(sign), format!("{sign} {line}"))).collect();
    html! {
        @if !lines.is_empty() {
            h3 { "Kernel logs" }
            p { "- only " (without) ", + only " (with) "; numbers are not compared" }
            (preformatted(&lines, more))
        }
    }
}

/// Lines as a program wrote them, each with its class.
fn preformatted(lines: &[(&str, String)], more: usize) -> Markup {
    let indent = |line: &str| " ".repeat((line.len() - line.trim_start().len()).min(INDENT));
    html! {
        @if !lines.is_empty() {
            pre { @for (class, line) in lines { span class=(class) { (indent(line)) (text(line)) } "\n" } }
            @if more > 0 { p.note { (more) " more lines" } }
        }
    }
}
