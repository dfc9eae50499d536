//! Comparisons, bisections and checks: what kiln concluded beyond single Runs.

use maud::{Markup, html};
use report::html::{Page, section, text};

use super::bisection::link;
use super::{Asked, Failure, table};
use crate::address;
use crate::kept::{self, Kept, Kind};
use crate::store::Store;

/// Lines of each kind.
const LINES_MAX: usize = 200;

/// All of them, the newest first; each leads to its page.
pub(crate) fn conclusions(store: &mut Store, _asked: &Asked) -> Result<Page, Failure> {
    let body = html! {
        header { h1 { "Conclusions" } p.legend { "What kiln compared, bisected and checked." } }
        main {
            @for kind in Kind::ALL {
                (section(kind.heading(), &list(&kept::all(kind, store.folders().of(kind)))))
            }
        }
    };
    Ok(Page { title: "Conclusions".to_owned(), body })
}

/// What leads to its page, and where it is unless it came to its end.
fn what(kept: &Kept) -> Markup {
    let is_running = kept.is_running();
    match kept.title().filter(|_| !is_running) {
        Some(title) => html! { a href=(address::kept(kept.kind, &kept.name)) { (text(title)) } },
        None => html! {
            @if is_running { "runs" } @else { "not at its end" }
            @if let Some(underway) = kept.underway() { ": " (link(kept, &underway)) }
        },
    }
}

fn list(all: &[Kept]) -> Markup {
    let rows = html! {
        @for kept in all.iter().take(LINES_MAX) {
            tr {
                th scope="row" { (what(kept)) }
                td { code { (text(&kept.name)) } }
                td data-v=(kept.changed.as_second()) { (kept.changed.strftime("%Y-%m-%d %H:%M")) }
            }
            "\n"
        }
    };
    html! {
        @if all.is_empty() { p { "None." } } @else { (table(&["what", "name", "changed"], &rows)) }
        @if all.len() > LINES_MAX { p.note { (all.len() - LINES_MAX) " older ones are left out" } }
    }
}
