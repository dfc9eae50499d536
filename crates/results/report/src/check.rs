//! What `kiln check` prints.
//!
//! * [`text()`]: for a terminal
//! * [`line()`]: in a line; [`json()`]: the whole check as one document
//! * [`html()`]: one file that needs nothing else
//! * `analysis` and `statement`: what all of them say
//! * [`mail()`]: the answer to the series; [`b4`]: what b4 shows in a review
//! * [`markdown()`]: what a terminal shows, below the verdict

mod analysis;
pub mod b4;
mod html;
mod json;
mod mail;
mod statement;
mod text;

use std::io;

use ::check::SeriesCheck;

use crate::markdown::{Document, Wrap, of_text};

pub use html::html;
pub use json::json;
pub use mail::{Answer, mail};
pub use statement::verdict as line;
pub use text::text;

/// A check as Markdown.
///
/// # Errors
///
/// None: memory takes it.
pub fn markdown(check: &SeriesCheck, wrap: Wrap) -> io::Result<Document> {
    let mut lines = Vec::new();
    text(check, Some(wrap.columns()), false, &mut lines)?;
    Ok(of_text(&line(check), &lines, wrap))
}
