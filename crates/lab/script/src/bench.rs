//! Where a script finds its machines: `lab` has real ones, tests have a fake.

use crate::answer::Answer;
use crate::call::Request;
use crate::trouble::Trouble;

/// Where a script finds its machines. Branches of a script call it at the same time.
pub trait Bench: Sync {
    /// Does what a script asks for.
    ///
    /// # Errors
    ///
    /// When it cannot be done, or the machine did not survive it.
    fn call(&self, request: &Request) -> Result<Answer, Trouble>;

    /// A step has ended: its machines and segments end too.
    ///
    /// # Errors
    ///
    /// What went wrong in one of them and was not seen before.
    fn end_step(&self, step: &str) -> Result<(), Trouble>;

    /// Whether the script should stop where it is.
    fn is_cancelled(&self) -> bool {
        false
    }
}
