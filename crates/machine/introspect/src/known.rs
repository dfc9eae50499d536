//! A kernel that was found before.

use std::sync::Arc;

use crate::code::{Code, Missing};
use crate::memory::{Memory, Physical};
use crate::{Kernel, Tables};

/// The top of the kernel's own page tables, which are there as long as it runs.
const OWN_TABLES: &str = "init_top_pgt";

/// A kernel that was found before: to find it takes much longer than to look at it again.
pub struct Known {
    pub(crate) code: Arc<Code>,
    root: u64,
    levels: u32,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Known {
    /// The kernel that is mapped by the page tables of a CPU.
    ///
    /// # Errors
    ///
    /// What the machine does not show.
    pub fn find(physical: &mut dyn Physical, tables: Tables) -> Result<Self, Missing> {
        let Kernel { mut memory, code } = Kernel::find(physical, tables)?;
        let own = code.symbols.address(OWN_TABLES).and_then(|address| memory.translate(address));
        let (root, _) = own.ok_or(Missing::Symbols)?;
        Ok(Self { levels: memory.levels(), root, code })
    }

    /// The kernel itself, as it is now.
    pub fn kernel<'a>(&self, physical: &'a mut dyn Physical) -> Kernel<'a> {
        Kernel { memory: self.memory(physical), code: Arc::clone(&self.code) }
    }

    /// Its memory.
    pub(crate) fn memory<'a>(&self, physical: &'a mut dyn Physical) -> Memory<'a> {
        Memory::new(physical, self.root, self.levels)
    }
}
