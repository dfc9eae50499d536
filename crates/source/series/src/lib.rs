//! Mail becomes patch series.
//!
//! A [`Mailbox`] holds [`Mail`]s, [`Threads`] know which answers which, [`series()`] finds what was sent together and as which
//! revision, [`assemble()`] gives one revision with the trailers that its patches got, and [`Composed`] is a patch as git applies it.
//! [`patches()`] gives those of a mailbox that holds one series. [`Reply`] is what the header of an answer says.

mod assemble;
mod compose;
mod error;
mod facts;
mod files;
mod from_line;
mod ignored;
mod index;
mod line;
mod mail;
mod mailbox;
mod mime;
mod order;
mod pairs;
mod patch_id;
mod patches;
mod person;
mod pick;
mod preimage;
mod reply;
mod revision;
mod series;
mod sets;
mod subject;
#[cfg(test)]
mod tests;
mod thread;
mod trailer;

pub use assemble::{Assembled, Choice, Given, Patch, Reason, Refused, assemble};
pub use compose::Composed;
pub use error::Error;
pub use facts::Facts;
pub use files::is_patch;
pub use index::Index;
pub use mail::{MAIL_MAX, Mail};
pub use mailbox::{BYTES_MAX, MAILS_MAX, Mailbox};
pub use mime::without_carriage_returns;
pub use order::Order;
pub use pairs::{Pair, Side, pairs};
pub use patches::{PATCHES_MAX, patches};
pub use person::Person;
pub use pick::Pick;
pub use preimage::{Preimage, preimages};
pub use reply::Reply;
pub use revision::Revision;
pub use series::{Series, series};
pub use subject::{Counter, Subject};
pub use thread::Threads;
pub use trailer::Trailer;
