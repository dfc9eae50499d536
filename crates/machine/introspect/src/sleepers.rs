//! Tasks that sleep for a lock of the kernel, looked for again and again while the machine runs.

use std::ops::Range;

use crate::code::Missing;
use crate::known::Known;
use crate::locks::KINDS;
use crate::memory::{Memory, Physical};
use crate::tasks::{self, Layout};
use crate::{Kernel, Tables};

/// Bytes of a stack in which a task is that sleeps for a lock: above are only the frames of the scheduler.
const FRAMES: usize = 1024;

/// How tasks that sleep for a lock are found in a kernel.
pub struct Sleepers {
    known: Known,
    layout: Layout,
    /// Where a task has how often it left its CPU: by itself, and otherwise.
    switches: [u64; 2],
    /// The functions in which they sleep, in the order of addresses, and what lies between the first and the last.
    functions: Vec<Range<u64>>,
    range: Range<u64>,
}

/// A task that seems to sleep for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sleeper {
    /// Where the kernel has it.
    pub task: u64,
    /// How often it has left its CPU: one that sleeps has left it for the last time.
    pub switches: u64,
}

impl std::fmt::Debug for Sleepers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleepers").field("functions", &self.functions).finish_non_exhaustive()
    }
}

impl Sleepers {
    /// In the kernel that is mapped by the page tables of a CPU.
    ///
    /// # Errors
    ///
    /// What the machine does not show.
    pub fn find(physical: &mut dyn Physical, tables: Tables) -> Result<Self, Missing> {
        let known = Known::find(physical, tables)?;
        let code = &known.code;
        let mut functions = code.symbols.functions(|name| KINDS.iter().any(|kind| kind.sleeps_in(name)));
        functions.sort_by_key(|function| (function.start, function.end));
        let ends = (functions.iter().map(|it| it.start).min(), functions.iter().map(|it| it.end).max());
        let range = ends.0.unwrap_or(0)..ends.1.unwrap_or(0);
        let layout = Layout::of(&code.types)?;
        let member = |name| code.types.offset("task_struct", &[name]).ok_or(Missing::Member(name));
        let switches = [member("nvcsw")?, member("nivcsw")?];
        Ok(Self { layout, switches, functions, range, known })
    }

    /// The kernel itself, as it is now.
    pub fn kernel<'a>(&self, physical: &'a mut dyn Physical) -> Kernel<'a> {
        self.known.kernel(physical)
    }

    /// Those that seem to sleep for a lock. The machine may run: what is read may be of two moments.
    pub fn look(&self, physical: &mut dyn Physical) -> Vec<Sleeper> {
        let mut memory = self.known.memory(physical);
        let all = tasks::all(&self.known.code, &self.layout, &mut memory).unwrap_or_default();
        all.into_iter().filter_map(|task| self.sleeper(&mut memory, task)).collect()
    }

    fn sleeper(&self, memory: &mut Memory<'_>, task: u64) -> Option<Sleeper> {
        let frames = tasks::frames(&self.layout, memory, task)?;
        let stack = memory.up_to(frames, FRAMES);
        let mut words = stack.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let is_in = |word: u64| {
            let behind = self.functions.partition_point(|function| function.start <= word);
            self.range.contains(&word)
                && self.functions[..behind].last().is_some_and(|function| function.contains(&word))
        };
        words.any(is_in).then_some(())?;
        let mut count = |offset: u64| memory.word(task.checked_add(offset)?);
        let [voluntary, others] = self.switches;
        Some(Sleeper { task, switches: count(voluntary)?.wrapping_add(count(others)?) })
    }
}
