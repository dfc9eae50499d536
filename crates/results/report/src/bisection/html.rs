//! A bisection as one file for a browser.

mod chart;
mod sides;
mod tables;

use std::io::{self, Write};

use bisect::Bisection;
use maud::{Markup, html};

use super::statement;
use crate::columns::fit;
use crate::html::{command, page, section, text};

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
    html! {
        header {
            h1 { (text(title)) }
            (command(typed))
            p { "question: " (text(statement::question(bisection))) }
            p { "range: " (text(statement::walked(bisection))) }
            @for note in &bisection.notes { p.note { "note: " (text(note)) } }
        }
        "\n"
        main {
            (tables::candidates(bisection))
            (section("The axis", &html! { (chart::chart(bisection)) (tables::states(bisection)) }))
            (section("Proof", &tables::proof(bisection)))
            (section("Both sides", &sides::both(bisection)))
            @if !bisection.reproduce.is_empty() {
                (section("Reproduce", &html! { @for text in &bisection.reproduce { (command(text)) } }))
            }
        }
    }
}
