//! The table of all Runs.

use judge::Run;
use maud::{Markup, html};

use super::failures::anchor;
use crate::html::{outcome, text};
use crate::words::{seconds, why};

/// All Runs in a table that sorts, and from which words can be chosen.
pub(super) fn table(runs: &[Run]) -> Markup {
    html! {
        div.wide {
            table class="metrics sortable searchable" {
                thead {
                    tr {
                        th scope="col" { "case" }
                        th scope="col" { "outcome" }
                        th scope="col" class="figure" { "time" }
                        th scope="col" class="spared" { "why" }
                    }
                }
                tbody { @for (at, run) in runs.iter().enumerate() { (row(at, run)) } }
            }
        }
    }
}

fn row(at: usize, run: &Run) -> Markup {
    html! {
        tr {
            th scope="row" title=(text(&run.about)) {
                @if run.outcome.is_well() { (text(&run.case)) }
                @else { a href={ "#" (anchor(at)) } { (text(&run.case)) } }
            }
            td.verdict { (outcome(run.outcome)) }
            td.figure data-v=(run.duration.as_secs_f64()) { (seconds(run.duration)) }
            td.spared { (text(why(run))) }
        }
        "\n"
    }
}
