//! What `kiln check` prints.
//!
//! * [`text()`]: for a terminal
//! * [`line()`]: in a line; [`json()`]: the whole check as one document
//! * [`html()`]: one file that needs nothing else
//! * `analysis` and `statement`: what all of them say
//! * [`mail()`]: the answer to the series; [`b4`]: what b4 shows in a review

mod analysis;
pub mod b4;
mod html;
mod json;
mod mail;
mod statement;
mod text;

pub use html::html;
pub use json::json;
pub use mail::{Answer, mail};
pub use statement::verdict as line;
pub use text::text;
