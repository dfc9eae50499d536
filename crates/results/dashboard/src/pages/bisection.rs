//! A bisection as it goes.

use bisect::Underway;
use maud::{Markup, html};
use report::bisection::{progress, searched, underway};
use report::html::{Page, text};

use super::table;
use crate::address;
use crate::kept::{Kept, Kind, all};
use crate::store::Store;

/// Bisections that may be running; older ones have ended.
const RUNNING_MAX: usize = 16;

/// How far a bisection is that runs or was stopped; nothing of one that has its page.
pub(crate) fn bisection(kept: &Kept) -> Option<Page> {
    let is_running = kept.is_running();
    let is_at_end = kept.has_ended && !is_running;
    if is_at_end { None } else { Some(underway(&kept.underway()?, is_running)) }
}

/// What leads to a bisection that runs or was stopped.
pub(super) fn link(kept: &Kept, underway: &Underway) -> Markup {
    html! { a href=(address::kept(kept.kind, &kept.name)) { (text(searched(underway))) } }
}

/// A line for each that runs; nothing if none does.
pub(super) fn running(store: &Store) -> Option<Markup> {
    let newest = all(Kind::Bisection, &store.folders().bisections).into_iter().take(RUNNING_MAX);
    let running: Vec<Kept> = newest.filter(Kept::is_running).collect();
    let rows = html! {
        @for kept in &running {
            @let underway = kept.underway();
            tr {
                th scope="row" {
                    @match &underway { Some(underway) => (link(kept, underway)), None => code { (text(&kept.name)) } }
                }
                td { @if let Some(underway) = &underway { (progress(underway)) } }
            }
            "\n"
        }
    };
    (!running.is_empty()).then(|| table(&["bisection", "steps"], &rows))
}
