//! git: the commits between two ends, one change taken back, the patches of a series as commits, and work trees.
//!
//! [`Repository`] is the user's. [`walk()`] lists commits, [`change()`] describes one, [`mail()`] writes one, [`blame()`] names the one that wrote a line, [`file()`] reads a file of one, [`revert()`] takes one back, [`apply_series`]
//! puts the patches of [`series`] on top of one, and says with which commit one of them is in [`Conflict`]; the last two work in a `scratch` repository. [`Objects`] reads many objects. [`Ancestry`] is the order of some commits.
//!
//! Nothing of the user's is written. What is made lies in kiln's own objects, where a
//! [`Locator`](kernel::Locator) finds it by its hash as it finds any other commit, and the same input makes
//! the same hash. The tree is any folder of a checkout or a bare repository, as
//! [`Locator::path`](kernel::Locator::path) gives it; whether it holds a kernel shows when it is built.

mod ancestry;
mod apply;
mod base;
mod blame;
mod change;
mod checkout;
mod conflict;
mod content;
mod error;
mod git;
mod mail_info;
mod objects;
mod pickaxe;
mod revert;
mod scratch;
mod settings;
#[cfg(test)]
mod tests;
mod walk;

pub use ancestry::Ancestry;
pub use apply::apply_series;
pub use base::{Base, Clues, DAYS, Reason, base};
pub use blame::blame;
pub use change::{Change, FILES_MAX, change, files, mail};
pub use checkout::{Changes, changes_in_checkout};
pub use conflict::Conflict;
pub use content::{file, files_below};
pub use error::Error;
pub use git::{Repository, reason};
pub use mail_info::{MailParts, mail_info};
pub use objects::{Object, Objects};
pub use revert::revert;
pub use settings::{Settings, password, setting, settings};
pub use walk::{COMMITS_MAX, Limits, Walk, walk};
