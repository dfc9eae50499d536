//! Where a bisection is carried out.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use lab::Backend;

/// Where Kernels, machines and earlier results are.
pub struct Environment<'a> {
    /// Where Kernels and machines come from.
    pub backend: &'a dyn Backend,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
    /// Cases and programs run as jobs of Slurm's.
    pub on_slurm: bool,
    /// The folder of all sessions.
    pub sessions: PathBuf,
    /// The folder of all bisections.
    pub bisections: PathBuf,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("bisections", &self.bisections).finish_non_exhaustive()
    }
}
