//! Mail becomes patch series.
//!
//! A [`Mailbox`] holds [`Mail`]s, [`Threads`] know which answers which, [`series()`] finds what was sent together and as which
//! revision, [`assemble()`] gives one revision with the trailers that its patches got, and [`Composed`] is a patch as git applies it.
//!
//! [`read`] gives the files of a series, which [`File`] tells apart: mails, plain patches, and anything else. Once git
//! has taken a mail apart, [`MailInfo`] says what its header means, and [`sort`] puts patches into the order in which
//! they apply.

mod assemble;
mod compose;
mod error;
mod facts;
mod files;
mod index;
mod line;
mod mail;
mod mail_info;
mod mailbox;
mod mime;
mod pairs;
mod patch_id;
mod person;
mod pick;
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
pub use files::{File, LIMIT, PATCHES_MAX, is_patch, read};
pub use index::Index;
pub use mail::{MAIL_MAX, Mail};
pub use mail_info::{MailInfo, sort};
pub use mailbox::{BYTES_MAX, MAILS_MAX, Mailbox};
pub use pairs::{Pair, Side, pairs};
pub use person::Person;
pub use pick::Pick;
pub use revision::Revision;
pub use series::{Series, series};
pub use subject::{Counter, Subject};
pub use thread::Threads;
pub use trailer::Trailer;
