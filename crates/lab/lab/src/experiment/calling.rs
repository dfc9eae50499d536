//! A call of a script on its way to a machine, with what belongs to it.

use script::describe::LabFile;
use script::{ErrorName, Trouble};

use super::kept::Kept;
use super::setting::{Setting, Subject};

/// A call on its way to a machine.
pub(super) struct Calling<'a> {
    pub(super) setting: &'a Setting<'a>,
    /// What runs in the machine.
    pub(super) subject: &'a Subject,
    pub(super) kept: &'a Kept,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

impl Calling<'_> {
    /// A file of the experiment, and its name.
    pub(super) fn file(&self, file: &LabFile) -> Result<(String, Vec<u8>), Trouble> {
        let missing = |why: String| Trouble::new(ErrorName::Missing, why);
        let path = self.setting.folder.file(&file.path).map_err(|error| missing(error.to_string()))?;
        let content = std::fs::read(&path).map_err(|error| missing(format!("{}: {error}", file.path)))?;
        Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), content))
    }
}
