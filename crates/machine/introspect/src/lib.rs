//! What a kernel does, read from the memory of its machine: nobody in it is asked, so that it may hang or be dead.
//!
//! * [`tasks()`]: which tasks there are, where they are, and which locks they hold
//! * [`Physical`]: what has to be there for it: memory, and the page tables of a CPU; [`Dump`] has both in a file
//!
//! A kernel brings along all that is needed: the list of its symbols ([`kallsyms`]), where its structures have their members ([`btf`]), and how the
//! frames of its stacks are found ([`orc`]). What is read may be wrong in any way: all is bounded.

mod btf;
mod code;
mod dump;
mod image;
mod kallsyms;
mod memory;
mod modules;
mod orc;
mod stack;
mod tasks;
mod text;

use code::Code;
pub use code::Missing;
pub use dump::{Dump, WrongDump};
use memory::Memory;
pub use memory::Physical;
pub use stack::Call;
pub use tasks::{Registers, Task};
pub use text::lines;

/// The bits of `CR3` that are no address: the lowest twelve; with page table isolation, the tables of a program lie a page behind those of
/// the kernel.
const CONTROL: u64 = 0xfff;
const ISOLATED: u64 = 0x1fff;

/// A CPU for which pages are translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tables {
    /// Its `CR3`.
    pub cr3: u64,
    /// Whether there are five levels: `LA57` of `CR4`.
    pub has_five_levels: bool,
}

impl Tables {
    /// By these registers.
    #[must_use]
    pub const fn new(cr3: u64, cr4: u64) -> Self {
        /// `LA57`.
        const FIVE_LEVELS: u64 = 1 << 12;
        Self { cr3, has_five_levels: cr4 & FIVE_LEVELS != 0 }
    }
}

/// All tasks of the kernel, processes in the order in which they were made, by the page tables of a CPU; `cpus` says where the CPUs are.
///
/// # Errors
///
/// What the machine does not show.
pub fn tasks(physical: &mut dyn Physical, tables: Tables, cpus: &[Registers]) -> Result<Vec<Task>, Missing> {
    let levels = if tables.has_five_levels { 5 } else { 4 };
    let mut why = Missing::Image;
    let mut roots = vec![tables.cr3 & !CONTROL, tables.cr3 & !ISOLATED];
    roots.dedup();
    for root in roots {
        let mut memory = Memory::new(physical, root, levels);
        match Code::read(&mut memory) {
            Ok(code) => return tasks::tasks(&code, &mut memory, cpus),
            Err(missing) => why = missing,
        }
    }
    Err(why)
}
