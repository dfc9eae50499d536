//! What a kernel does, read from the memory of its machine: nobody in it is asked, so that it may hang or be dead.
//!
//! * [`Kernel`]: which tasks there are, where they are, and which locks they hold; what is where; [`Known`]: one that was found before
//! * [`Sleepers`]: who sleeps for a [`Lock`], looked for again and again
//! * [`Physical`]: what has to be there for it: memory, and the page tables of a CPU; [`Dump`] has both in a file
//!
//! A kernel brings along all that is needed: the list of its symbols ([`kallsyms`]), where its structures have their members ([`btf`]), and how the
//! frames of its stacks are found ([`orc`]). What is read may be wrong in any way: all is bounded.

mod btf;
mod code;
mod dump;
mod image;
mod kallsyms;
mod known;
mod locks;
mod memo;
mod memory;
mod modules;
mod orc;
mod place;
mod sleepers;
mod stack;
mod tasks;
mod text;

use std::ops::Range;
use std::sync::Arc;

use code::Code;
pub use code::Missing;
pub use dump::{Dump, WrongDump};
pub use known::Known;
pub use locks::Lock;
use memory::Memory;
pub use memory::Physical;
pub use sleepers::{Sleeper, Sleepers};
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

/// Why a variable of a kernel has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoVariable {
    /// Nothing is called so.
    #[error("the kernel has no {0}, or no CONFIG_KALLSYMS_ALL, without which it lists functions alone")]
    Unknown(String),
    /// There are several.
    #[error("each CPU has a {0} of its own")]
    OfEachCpu(String),
}

/// The kernel of a machine, found in its memory.
pub struct Kernel<'a> {
    memory: Memory<'a>,
    code: Arc<Code>,
}

impl std::fmt::Debug for Kernel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").finish_non_exhaustive()
    }
}

impl<'a> Kernel<'a> {
    /// The kernel that is mapped by the page tables of a CPU.
    ///
    /// # Errors
    ///
    /// What the machine does not show.
    pub fn find(physical: &'a mut dyn Physical, tables: Tables) -> Result<Self, Missing> {
        let levels = if tables.has_five_levels { 5 } else { 4 };
        let mut why = Missing::Image;
        let mut roots = vec![tables.cr3 & !CONTROL, tables.cr3 & !ISOLATED];
        roots.dedup();
        for root in roots {
            match Code::read(&mut Memory::new(physical, root, levels)) {
                Ok(code) => {
                    let code = Arc::new(code);
                    return Ok(Self { memory: Memory::new(physical, root, levels), code });
                }
                Err(missing) => why = missing,
            }
        }
        Err(why)
    }

    /// All of its tasks, processes in the order in which they were made; `cpus` says where the CPUs are.
    ///
    /// # Errors
    ///
    /// What the machine does not show.
    pub fn tasks(&mut self, cpus: &[Registers]) -> Result<Vec<Task>, Missing> {
        tasks::tasks(&self.code, &mut self.memory, cpus)
    }

    /// The task that the kernel has there.
    ///
    /// # Errors
    ///
    /// What the machine does not show.
    pub fn task(&mut self, at: u64, cpus: &[Registers]) -> Result<Option<Task>, Missing> {
        tasks::task_at(&self.code, &mut self.memory, at, cpus)
    }

    /// The lock for which the task that the kernel has there sleeps, by its calls.
    pub fn lock(&mut self, at: u64, calls: &[Call]) -> Option<Lock> {
        locks::lock(&self.code, &mut self.memory, at, calls)
    }

    /// The calls that led to where a CPU is, the innermost first.
    pub fn calls(&mut self, cpu: Registers) -> Vec<Call> {
        stack::calls(&self.code, &mut self.memory, cpu.into())
    }

    /// What is at an address of its code, as it prints that itself: `schedule+0x5e/0xd0`.
    pub fn function(&mut self, address: u64) -> Option<String> {
        self.code.name(&mut self.memory, address)
    }

    /// Where data of this name is, up to the next symbol.
    ///
    /// # Errors
    ///
    /// When there is none, or each CPU has one of its own.
    pub fn variable(&self, name: &str) -> Result<Range<u64>, NoVariable> {
        let symbols = &self.code.symbols;
        let range = symbols.range(name).ok_or_else(|| NoVariable::Unknown(name.to_owned()))?;
        let limit = |name| symbols.address(name).unwrap_or(0);
        if (limit("__per_cpu_start")..limit("__per_cpu_end")).contains(&range.start) {
            return Err(NoVariable::OfEachCpu(name.to_owned()));
        }
        Ok(range)
    }

    /// What of its data is at an address: `jiffies`, `runqueues of CPU 1`, `on_cpu of cat (17)`, `an object of filp`.
    pub fn data(&mut self, address: u64) -> Option<String> {
        place::place(&self.code, &mut self.memory, address)
    }

    /// Its memory from an address on, up to what is not mapped and at most so many bytes.
    pub fn bytes(&mut self, address: u64, limit: usize) -> Vec<u8> {
        self.memory.up_to(address, limit)
    }

    /// Eight bytes of its memory.
    pub fn word(&mut self, address: u64) -> Option<u64> {
        self.memory.word(address)
    }
}
