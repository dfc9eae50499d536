//! Mail becomes patch series.
//!
//! [`read`] gives the files of a series, which [`File`] tells apart: mails, plain patches, and anything else. Once git
//! has taken a mail apart, [`MailInfo`] says what its header means, and [`sort`] puts patches into the order in which
//! they apply.

mod error;
mod files;
mod mail_info;

pub use error::Error;
pub use files::{File, LIMIT, PATCHES_MAX, is_patch, read};
pub use mail_info::{MailInfo, sort};
