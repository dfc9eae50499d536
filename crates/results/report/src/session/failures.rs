//! What shows that Runs went wrong.

use judge::Run;
use judge::run::stamp;
use maud::{Markup, html};
use protocol::KernelRecord;

use super::{SessionPage, TEXTS_MAX, replay};
use crate::evidence::collect;
use crate::html::{command, outcome, text};
use crate::repeats::repeats;
use crate::safe::safe;
use crate::words::{seconds, why};

/// Where the article of a Run is, by its place among all of the session.
pub(super) fn anchor(at: usize) -> String {
    format!("run-{at}")
}

/// An article for each Run that is not well, with its place.
pub(super) fn all(failures: &[(usize, &Run)], shown: SessionPage<'_>) -> Markup {
    let mut used = 0;
    html! {
        @for (at, run) in failures { (article(*at, run, shown, &mut used)) }
    }
}

fn article(at: usize, run: &Run, shown: SessionPage<'_>, used: &mut usize) -> Markup {
    let evidence = collect(run, crate::evidence::LINES);
    html! {
        article id=(anchor(at)) {
            h3 { (outcome(run.outcome)) " " (text(&run.case)) }
            p { (text(&run.about)) }
            p.reason { (text(why(run))) }
            @if let Some(repeats) = repeats(run) { p { (text(repeats)) } }
            @if !evidence.lines.is_empty() { (lines(&evidence.lines, evidence.more)) }
            @if let Some(replay) = replay(shown, run) { (command(&replay)) }
            (texts(run, used))
        }
        "\n"
    }
}

/// Evidence, with where it comes from.
fn lines(lines: &[(&'static str, String)], more: usize) -> Markup {
    html! {
        table.evidence {
            tbody {
                @for of_one in lines.chunk_by(|one, next| one.0 == next.0) {
                    tr {
                        th scope="row" { (of_one[0].0) }
                        td { pre { @for (_, line) in of_one { (text(line)) "\n" } } }
                    }
                }
            }
        }
        @if more > 0 { p.note { (more) " more lines below" } }
    }
}

/// What it printed and what the kernel logged, folded away.
fn texts(run: &Run, used: &mut usize) -> Markup {
    let output = safe(&run.output);
    let size = output.len() + run.log.iter().map(|record| record.text.len()).sum::<usize>();
    *used += size;
    if *used > TEXTS_MAX {
        return html! { p.note { "its output and its kernel log are left out: the page would be too large" } };
    }
    html! {
        @if !output.trim().is_empty() { details { summary { "Output" } pre { (output) } } }
        @if !run.log.is_empty() {
            details {
                summary { "Kernel log" }
                pre.log { @for record in &run.log { (log_line(record, run)) "\n" } }
            }
        }
        @for note in &run.notes { p.note { "note: " (text(note)) } }
        p.note { "took " (seconds(run.duration)) }
    }
}

/// A record of the kernel; those of a report on a defect stand out.
fn log_line(record: &KernelRecord, run: &Run) -> Markup {
    let line = text(&record.text);
    html! {
        (stamp(record)) " "
        @if run.is_in_report(&record.text) { strong { (line) } } @else { (line) }
    }
}
