//! What can be queued.

use std::path::Path;

use kernel::files::Limit;

use crate::Error;

/// Something that can be queued.
pub trait Item: Sized {
    /// How its file ends.
    const ENDING: &'static str;
    /// The largest one that is read.
    const LIMIT: Limit;

    /// What tells it from others: hexadecimal digits.
    fn name(&self) -> &str;

    /// What is kept of it.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    fn bytes(&self) -> Result<Vec<u8>, Error>;

    /// Reads what was kept at `path`.
    ///
    /// # Errors
    ///
    /// When that is none of these.
    fn parse(name: &str, bytes: Vec<u8>, path: &Path) -> Result<Self, Error>;
}
