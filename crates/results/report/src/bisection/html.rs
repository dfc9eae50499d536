//! A bisection as one file for a browser.

mod changes;
mod chart;
mod sides;
mod tables;

use std::io::{self, Write};

use bisect::Bisection;

use super::statement;
use crate::columns::fit;
use crate::html::{Markup, command, page};

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
    let page = page(&title, |markup| body(markup, bisection, &title, typed));
    out.write_all(page.as_bytes())?;
    out.flush()
}

fn body(markup: &mut Markup, bisection: &Bisection, title: &str, typed: &str) {
    markup.element("header", &[], |markup| {
        markup.plain("h1", title);
        command(markup, typed);
        markup.plain("p", format!("asked: {}", statement::question(bisection)));
        markup.plain("p", format!("among: {}", statement::walked(bisection)));
        for note in &bisection.notes {
            markup.leaf("p", &[("class", &"note")], format!("note: {note}"));
        }
    });
    markup.line();
    markup.element("main", &[], |markup| {
        tables::candidates(markup, bisection);
        section(markup, "The axis", |markup| {
            chart::chart(markup, bisection);
            tables::states(markup, bisection);
        });
        section(markup, "Proof", |markup| tables::proof(markup, bisection));
        section(markup, "Both sides", |markup| sides::both(markup, bisection));
        if !bisection.reproduce.is_empty() {
            section(markup, "Reproduce", |markup| {
                bisection.reproduce.iter().for_each(|text| command(markup, text));
            });
        }
    });
}

fn section(markup: &mut Markup, title: &'static str, content: impl FnOnce(&mut Markup)) {
    markup.element("section", &[], |markup| {
        markup.plain("h2", title);
        content(markup);
    });
    markup.line();
}
