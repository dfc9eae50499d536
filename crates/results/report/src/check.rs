//! What `kiln check` prints.
//!
//! * [`text()`]: for a terminal
//! * [`json()`]: the whole check as one document
//! * [`mail()`]: the answer to the series

mod json;
mod mail;
mod statement;
mod text;

pub use json::json;
pub use mail::{Answer, mail};
pub use text::text;
