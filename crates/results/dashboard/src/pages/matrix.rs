//! A suite on several kernels.

use maud::html;
use report::html::{Page, text};
use report::matrix::{legend, one};

use super::experiment::has_figures;
use super::{Asked, Failure};
use crate::address;
use crate::store::Store;

/// Kernels beside each other.
const KERNELS_MAX: usize = 24;

/// A suite on the kernels that ran it last.
pub(crate) fn matrix(store: &mut Store, asked: &Asked) -> Result<Page, Failure> {
    let suite = &asked.suite;
    let grid = store.grid(suite, KERNELS_MAX)?;
    if grid.columns.is_empty() {
        return Err(Failure::Unknown(format!("no session ran a suite {suite:?}")));
    }
    let lead = |session: &str, case: &str| {
        html! { a href=(address::run(session, case)) { "Run" } ", " a href=(address::case(suite, case)) { "over time" } }
    };
    let body = html! {
        header {
            h1 { "Matrix of " (text(suite)) }
            (legend())
            @if has_figures(store, suite) { p { a href=(address::experiment(suite)) { "What it recorded over time" } } }
            p.legend {
                "Kernels: "
                @for (number, column) in grid.columns.iter().enumerate() {
                    @if number > 0 { ", " }
                    a href=(address::kernel(&column.release)) { (text(&column.release)) }
                }
            }
        }
        main { (one(&grid, &lead)) }
    };
    Ok(Page { title: format!("Matrix of {suite}"), body })
}
