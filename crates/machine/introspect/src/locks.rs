//! Locks of the kernel for which tasks sleep: which one a task sleeps for, and whose it is.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::memory::Memory;
use crate::stack::Call;
use crate::tasks::{Layout, frames};

/// Bytes of a stack in which the entry of the list of waiters is.
const FRAMES: usize = 2048;

/// Waiters of a lock at most.
const WAITERS_MAX: usize = 4096;

/// Bytes of the stack of a task at most: `THREAD_SIZE`, with `CONFIG_KASAN`.
const STACK: u64 = 32 << 10;

/// The bits of an owner that are no address: include/linux/mutex.h, kernel/locking/rwsem.c. The lowest one of `struct rw_semaphore`: a reader.
const FLAGS: u64 = 7;
const READER: u64 = 1;

/// A kind of locks.
pub(crate) struct Kind {
    /// Its structure.
    name: &'static str,
    /// Where tasks sleep for one: what is behind a dot is the compiler's.
    functions: &'static [&'static str],
    /// What they have on their stacks meanwhile, if they are in a list.
    waiter: Option<&'static str>,
    /// Whether its owner may be one of several readers; nothing if it has no owner.
    has_readers: Option<bool>,
}

/// Those whose wait the tracepoints `contention_begin` and `contention_end` frame, too.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        name: "mutex",
        functions: &[
            "__mutex_lock",
            "__mutex_lock_common",
            "__mutex_lock_slowpath",
            "__mutex_lock_killable_slowpath",
            "__mutex_lock_interruptible_slowpath",
            "__ww_mutex_lock",
            "__ww_mutex_lock_slowpath",
            "__ww_mutex_lock_interruptible_slowpath",
        ],
        waiter: Some("mutex_waiter"),
        has_readers: Some(false),
    },
    Kind {
        name: "rw_semaphore",
        functions: &["rwsem_down_read_slowpath", "rwsem_down_write_slowpath"],
        waiter: Some("rwsem_waiter"),
        has_readers: Some(true),
    },
    Kind {
        name: "semaphore",
        functions: &[
            "__down",
            "__down_interruptible",
            "__down_killable",
            "__down_timeout",
            "__down_common",
            "___down_common",
        ],
        waiter: Some("semaphore_waiter"),
        has_readers: None,
    },
    Kind {
        name: "percpu_rw_semaphore",
        functions: &["percpu_rwsem_wait", "percpu_down_write"],
        waiter: None,
        has_readers: None,
    },
    Kind {
        name: "rt_mutex",
        functions: &["rt_mutex_slowlock", "__rt_mutex_slowlock", "rt_mutex_slowlock_block"],
        waiter: None,
        has_readers: None,
    },
];

/// A lock for which a task sleeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lock {
    /// Its structure in the kernel: `mutex`.
    pub kind: String,
    /// Where it is, if that can be told.
    pub address: Option<u64>,
    /// How many tasks sleep for it, if that can be told.
    pub waiters: Option<u32>,
    /// Where the kernel has the task that owns it, if that can be told.
    #[serde(skip)]
    pub owner: Option<u64>,
    /// Whether that is one of perhaps several readers, the last one that came.
    pub is_read: bool,
}

impl Kind {
    /// Whether tasks sleep for one in a function of this name.
    pub(crate) fn sleeps_in(&self, function: &str) -> bool {
        let name = function.split('.').next().unwrap_or_default();
        self.functions.contains(&name)
    }

    /// The kind in whose code a task sleeps that has these calls.
    fn of(calls: &[Call]) -> Option<&'static Self> {
        let mut functions = calls.iter().filter_map(|call| call.text.split('+').next());
        functions.find_map(|name| KINDS.iter().find(|kind| kind.sleeps_in(name)))
    }
}

/// The lock for which a task sleeps that has these calls.
pub(crate) fn lock(code: &Code, memory: &mut Memory<'_>, task: u64, calls: &[Call]) -> Option<Lock> {
    let kind = Kind::of(calls)?;
    let sp = frames(&Layout::of(&code.types).ok()?, memory, task)?;
    let (address, waiters) =
        kind.waiter.and_then(|waiter| listed(code, memory, (kind, waiter), (task, sp))).unzip();
    let owner = address.and_then(|address| owner(code, memory, kind, address));
    Some(Lock {
        kind: kind.name.to_owned(),
        address,
        waiters,
        owner: owner.map(|owner| owner & !FLAGS).filter(|owner| *owner != 0),
        is_read: kind.has_readers == Some(true) && owner.is_some_and(|owner| owner & READER != 0),
    })
}

/// The lock in whose list of waiters a task is, and how many are.
fn listed(
    code: &Code,
    memory: &mut Memory<'_>,
    (kind, waiter): (&Kind, &str),
    (task, sp): (u64, u64),
) -> Option<(u64, u32)> {
    let list = code.types.offset(kind.name, &["wait_list"])?;
    let entry = Entry {
        list: code.types.offset(waiter, &["list"])?,
        task: code.types.offset(waiter, &["task"])?,
        stack: code.types.offset("task_struct", &["stack"])?,
    };
    let words = (memory.up_to(sp, FRAMES).len() / 8) as u64;
    let mut places = (0..words).filter_map(|word| sp.checked_add(8 * word));
    let own = places.find(|at| entry.task(memory, *at) == Some(task) && is_linked(memory, *at))?;
    let mut seen = HashSet::from([own]);
    let mut next = memory.word(own)?;
    while entry.is_of_waiter(memory, next) {
        (seen.len() < WAITERS_MAX && seen.insert(next)).then_some(())?;
        next = memory.word(next)?;
    }
    Some((next.checked_sub(list)?, u32::try_from(seen.len()).ok()?))
}

/// Whether an entry of a list is behind the one before the next: `struct list_head`.
fn is_linked(memory: &mut Memory<'_>, at: u64) -> bool {
    let next = memory.word(at);
    next.and_then(|next| memory.word(next.checked_add(8)?)) == Some(at)
}

/// Where an entry of a list of waiters has its members.
struct Entry {
    list: u64,
    task: u64,
    stack: u64,
}

impl Entry {
    /// The task of an entry.
    fn task(&self, memory: &mut Memory<'_>, at: u64) -> Option<u64> {
        memory.word(at.checked_sub(self.list)?.checked_add(self.task)?)
    }

    /// Whether it is one of a waiter, on whose stack it is: the list begins in the lock.
    fn is_of_waiter(&self, memory: &mut Memory<'_>, at: u64) -> bool {
        let stack = self.task(memory, at).and_then(|task| memory.word(task.checked_add(self.stack)?));
        stack.is_some_and(|stack| (stack..stack.saturating_add(STACK)).contains(&at))
    }
}

fn owner(code: &Code, memory: &mut Memory<'_>, kind: &Kind, lock: u64) -> Option<u64> {
    kind.has_readers?;
    memory.word(lock.checked_add(code.types.offset(kind.name, &["owner"])?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::tests::structures;
    use crate::memory::tests::{Bytes, machine};

    /// Where the lock is, the tasks, their stacks, and what they have there.
    const LOCK: u64 = 0x4000_0100;
    const TASKS: [u64; 2] = [0x4000_1000, 0x4000_2000];
    const STACKS: [u64; 2] = [0x4001_0000, 0x4002_0000];
    const WAITERS: [u64; 2] = [0x4001_0200, 0x4002_0300];

    fn code() -> Code {
        Code::of_types(structures(&[
            ("mutex", &[("owner", 0), ("wait_list", 16)]),
            ("mutex_waiter", &[("list", 0), ("task", 16)]),
            ("task_struct", &[("stack", 32)]),
        ]))
    }

    /// Two tasks that sleep for a lock; these words are changed then.
    fn memory(changes: &[(u64, u64)]) -> Bytes {
        let mut machine = machine();
        let [first, second] = WAITERS;
        let head = LOCK + 16;
        let words = [
            (LOCK, 0x4000_3000 | 1),
            (head, first),
            (head + 8, second),
            // What is behind the lock.
            (head + 16, TASKS[0]),
            (first, second),
            (first + 8, head),
            (first + 16, TASKS[0]),
            (second, head),
            (second + 8, first),
            (second + 16, TASKS[1]),
            (TASKS[0] + 32, STACKS[0]),
            (TASKS[1] + 32, STACKS[1]),
        ];
        // As the page tables of the machine have it.
        for (at, word) in words.iter().chain(changes) {
            machine.set(at - 0x4000_0000 + 0x20_0000, *word);
        }
        machine
    }

    fn found(changes: &[(u64, u64)]) -> Option<(u64, u32)> {
        let mut machine = memory(changes);
        let mut memory = Memory::new(&mut machine, 0x1000, 4);
        listed(&code(), &mut memory, (&KINDS[0], "mutex_waiter"), (TASKS[0], STACKS[0] + 0x180))
    }

    #[test]
    fn a_lock_is_found_by_the_list_of_those_who_sleep_for_it() {
        assert_eq!(found(&[]), Some((LOCK, 2)));
        let mut machine = memory(&[]);
        let mut memory = Memory::new(&mut machine, 0x1000, 4);
        assert_eq!(owner(&code(), &mut memory, &KINDS[0], LOCK), Some(0x4000_3001));
        assert_eq!(owner(&code(), &mut memory, &KINDS[2], LOCK), None, "a semaphore has no owner");
    }

    #[test]
    fn what_is_no_list_is_no_lock() {
        let [first, second] = WAITERS;
        assert_eq!(found(&[(first + 16, TASKS[1])]), None, "it is not the task's");
        assert_eq!(found(&[(second + 8, 0)]), None, "nothing leads back");
        assert_eq!(found(&[(second, first)]), None, "a circle without a lock");
        assert_eq!(found(&[(second, second)]), None);
        assert_eq!(found(&[(first, u64::MAX)]), None);
    }

    #[test]
    fn the_kind_of_a_lock_is_told_by_the_function_in_which_tasks_sleep() {
        let kind = |text: &str| {
            let call = |text: &str| Call { text: text.to_owned(), is_guess: false };
            Kind::of(&[call("__schedule+0x1/0x2"), call(text)]).map(|kind| kind.name)
        };
        assert_eq!(kind("__mutex_lock.constprop.0+0x399/0x700"), Some("mutex"));
        assert_eq!(kind("rwsem_down_write_slowpath+0x1/0x2"), Some("rw_semaphore"));
        assert_eq!((kind("__mutex_lock_x+0x1/0x2"), kind("")), (None, None));
    }
}
