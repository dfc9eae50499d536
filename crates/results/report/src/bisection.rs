//! What `kiln bisect` prints.
//!
//! * [`text()`]: for a terminal
//! * [`json()`]: the whole bisection as one document
//! * [`html()`]: one file that needs nothing else, with the axis as a chart
//! * [`mail()`]: the draft of a mail to those who wrote the change

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

pub use html::html;
pub use json::json;
pub use mail::mail;
pub use private::Private;
pub use text::text;
