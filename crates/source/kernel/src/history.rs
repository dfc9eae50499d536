//! History: the commits between two ends, one change taken back, the patches of a series as commits.
//!
//! Nothing of the user's is written. What is made lies in kiln's own objects, where a
//! [`Locator`](crate::Locator) finds it by its hash as it finds any other commit, and the same input makes
//! the same hash. The tree is any folder of a checkout or a bare repository, as
//! [`Locator::path`](crate::Locator::path) gives it; whether it holds a kernel shows when it is built.

mod change;
mod checkout;
mod error;
mod mail;
mod revert;
mod series;
#[cfg(test)]
mod tests;
mod walk;
mod workshop;

pub use change::{Change, FILES_MAX, change};
pub use checkout::{Changes, changes_in_checkout};
pub use error::HistoryError;
pub use revert::revert;
pub use series::apply_series;
pub use walk::{COMMITS_MAX, Limits, Walk, walk};
