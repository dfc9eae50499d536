//! What `kiln bisect` prints.
//!
//! * [`text()`]: for a terminal
//! * [`json()`]: the whole bisection as one document
//! * [`html()`]: one file that needs nothing else, with the axis as a chart
//! * [`underway()`]: the same while it goes on
//! * [`mail()`]: the draft of a mail to those who wrote the change
//! * [`markdown()`]: what a terminal shows, below the verdict

mod candidate;
mod changes;
mod difference;
mod functions;
mod html;
mod json;
mod mail;
mod private;
mod relevance;
mod settings;
mod sides;
mod statement;
mod text;
mod walk;

use std::io;

use ::bisect::Bisection;

use crate::markdown::{Document, Wrap, of_text};

pub use changes::total as changes_total;
pub use html::{html, progress, searched, underway};
pub use json::json;
pub use mail::mail;
pub use private::Private;
pub use text::text;

/// A bisection as Markdown.
///
/// # Errors
///
/// None: memory takes it.
pub fn markdown(bisection: &Bisection, wrap: Wrap) -> io::Result<Document> {
    let mut lines = Vec::new();
    text(bisection, Some(wrap.columns()), false, &mut lines)?;
    Ok(of_text(&statement::verdict(bisection), &lines, wrap))
}
