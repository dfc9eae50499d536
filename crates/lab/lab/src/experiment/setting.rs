//! What a laboratory is made of.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kernel::Kernel;
use protocol::Need;
use script::call::Request;
use script::folder::Folder;
use script::{ErrorName, Trouble};

use crate::backend::Backend;
use crate::request::MachineRequest;

/// A Kernel that an experiment runs on.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The Kernel.
    pub kernel: Arc<Kernel>,
}

/// What a laboratory is made of.
pub struct Setting<'a> {
    /// Where Kernels and roots come from.
    pub backend: &'a dyn Backend,
    /// The Kernels, in the order in which the user named them.
    pub subjects: Vec<Subject>,
    /// What the user fixed about all machines.
    pub machine: MachineRequest,
    /// All machines boot.
    pub no_clones: bool,
    /// What the experiment needs, in each of its machines.
    pub needs: Vec<Need<String>>,
    /// The experiment's folder.
    pub folder: Folder,
    /// Where files go that it keeps.
    pub results: PathBuf,
    /// What chance is drawn from.
    pub seed: u64,
    /// When the time of the experiment is over.
    pub deadline: Instant,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
    /// Gets each call before it is done.
    pub on_call: &'a (dyn Fn(&Request) + Sync),
}

impl std::fmt::Debug for Setting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Setting<'_> {
    /// The Kernel of this number.
    pub(super) fn subject(&self, number: u32) -> Result<&Subject, Trouble> {
        let subject = self.subjects.get(number as usize);
        subject.ok_or_else(|| Trouble::new(ErrorName::Missing, "the experiment has no such kernel"))
    }
}
