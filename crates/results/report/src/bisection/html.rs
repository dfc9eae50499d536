//! A bisection as one file for a browser.

mod chart;
mod sides;
mod tables;
mod underway;

use std::io::{self, Write};

use bisect::Bisection;
use maud::{Markup, html};

use super::statement;
use super::walk::Walk;
use crate::columns::fit;
use crate::html::{command, page, section, text};

pub use underway::{progress, searched, underway};

/// Columns of a heading.
const HEADING: usize = 240;

/// Files of a change.
const FILES: usize = 200;

/// Writes the page. `typed` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(bisection: &Bisection, typed: &str, mut out: impl Write) -> io::Result<()> {
    let title = fit(&statement::verdict(bisection), HEADING);
    out.write_all(page(&title, &body(bisection, &title, typed)).as_bytes())?;
    out.flush()
}

fn body(bisection: &Bisection, title: &str, typed: &str) -> Markup {
    let walk = Walk::from(bisection);
    html! {
        header {
            h1 { (text(title)) }
            (command(typed))
            p { "question: " (text(walk.question())) }
            p { "range: " (text(walk.range())) }
            @for note in &bisection.notes { p.note { "note: " (text(note)) } }
        }
        "\n"
        main {
            (tables::candidates(bisection))
            (section("The axis", &html! { (chart::chart(&walk, title)) (tables::steps(bisection)) (tables::states(&walk, &bisection.states)) }))
            (section("Proof", &tables::proof(bisection)))
            (section("Both sides", &sides::both(bisection)))
            @if !bisection.reproduce.is_empty() {
                (section("Reproduce", &html! { @for text in &bisection.reproduce { (command(text)) } }))
            }
        }
    }
}
