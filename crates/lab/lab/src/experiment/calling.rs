//! A call of a script on its way to a machine, with what belongs to it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kernel::Kernel;
use script::describe::LabFile;
use script::folder::Folder;
use script::{ErrorName, Trouble};

use super::kept::Kept;

/// A Kernel that an experiment runs on.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The Kernel.
    pub kernel: Arc<Kernel>,
}

/// A call on its way to a machine.
pub(super) struct Calling<'a> {
    pub(super) subject: &'a Subject,
    pub(super) folder: &'a Folder,
    pub(super) kept: &'a Kept,
    pub(super) interrupt: &'a AtomicBool,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

impl Calling<'_> {
    /// A file of the experiment, and its name.
    pub(super) fn file(&self, file: &LabFile) -> Result<(String, Vec<u8>), Trouble> {
        let missing = |why: String| Trouble::new(ErrorName::Missing, why);
        let path = self.folder.file(&file.path).map_err(|error| missing(error.to_string()))?;
        let content = std::fs::read(&path).map_err(|error| missing(format!("{}: {error}", file.path)))?;
        Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), content))
    }
}
