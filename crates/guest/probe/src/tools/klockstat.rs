//! Waits for locks of the kernel, by where they are waited for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use aya::Pod;
use bpf::{Object, Watch, programs};
use harness::instrument::skip;
use harness::kallsyms::{self, Table};
use harness::tracefs::field;
use protocol::Report;
use protocol::probe::{Found, LockKind, LockWaits};

use super::{Tool, largest};

/// `struct place` of `bpf/locks.bpf.c`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Place {
    lock: u64,
    flags: u32,
    /// Negative if the kernel could not tell.
    stack: i32,
}

// SAFETY: numbers, without anything between them.
unsafe impl Pod for Place {}

/// `struct waits`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Waits {
    count: u64,
    total: u64,
    longest: u64,
}

// SAFETY: numbers, without anything between them.
unsafe impl Pod for Waits {}

/// `LCB_F_*` of include/trace/events/lock.h.
const SPIN: u32 = 1;
const READ: u32 = 2;
const WRITE: u32 = 4;
const RT: u32 = 8;
const PERCPU: u32 = 16;
const MUTEX: u32 = 32;

/// Where the kernel has the functions of its locks: its own list of what a stack is not worth to show.
const LOCK_CODE: [(&str, &str); 2] =
    [("__lock_text_start", "__lock_text_end"), ("__sched_text_start", "__sched_text_end")];

/// Functions of locks that are elsewhere in the kernel.
const LOCKS: [&str; 9] = [
    "__pv_queued_spin_lock_slowpath",
    "down",
    "down_interruptible",
    "down_killable",
    "down_timeout",
    "native_queued_spin_lock_slowpath",
    "queued_read_lock_slowpath",
    "queued_spin_lock_slowpath",
    "queued_write_lock_slowpath",
];

pub(super) struct Klockstat {
    object: Object,
    /// What the kernel listed when it began: modules that come later have no names.
    symbols: Rc<str>,
    /// By these, once somebody wants to see some.
    names: Option<Names>,
}

impl Klockstat {
    pub(super) fn begin(watch: &Watch) -> Result<Self, Report> {
        let symbols = kallsyms::read().map_err(skip)?.into();
        let place = |event, name| {
            field("lock", event, name)
                .map_err(|why| skip(format!("locks tell of waits since Linux 5.19: {why}")))
        };
        let places = [
            ("begin_lock", place("contention_begin", "lock_addr")?),
            ("begin_flags", place("contention_begin", "flags")?),
            ("end_lock", place("contention_end", "lock_addr")?),
        ];
        let mut object = Object::load(programs::LOCKS, watch, &places)?;
        // First where a wait ends: of what begins then, both is seen.
        object.attach_to("end", "lock:contention_end")?;
        object.attach_to("begin", "lock:contention_begin")?;
        Ok(Self { object, symbols, names: None })
    }
}

impl Tool for Klockstat {
    fn found(&mut self) -> Result<Found, Report> {
        let names = self.names.get_or_insert_with(|| Names::new(&self.symbols));
        let mut rows: BTreeMap<(LockKind, Option<String>, String), LockWaits> = BTreeMap::new();
        for (place, all) in self.object.elements::<Place, Waits>("places")? {
            let stack = u32::try_from(place.stack).map(|id| self.object.stack("stacks", id));
            let caller = names.caller(&stack.unwrap_or_else(|_| Ok(Vec::new()))?);
            let (kind, lock) = (kind(place.flags), names.lock(place.lock));
            let row = rows.entry((kind, lock.clone(), caller.clone())).or_insert(LockWaits {
                kind,
                lock,
                caller,
                waits: 0,
                total_ns: 0,
                longest_ns: 0,
            });
            for waits in all {
                row.waits += waits.count;
                row.total_ns += waits.total;
                row.longest_ns = row.longest_ns.max(waits.longest);
            }
        }
        let waited = |row: &LockWaits| (row.total_ns, row.caller.clone());
        Ok(Found::Locks(largest(rows.into_values().collect(), waited)))
    }

    fn lost(&self) -> Result<u64, Report> {
        self.object.lost()
    }
}

fn kind(flags: u32) -> LockKind {
    let has = |flag| flags & flag != 0;
    match () {
        () if has(MUTEX) => LockKind::Mutex,
        () if has(RT) => LockKind::RtMutex,
        () if has(PERCPU) => LockKind::PercpuRwsem,
        () if has(SPIN) && has(READ | WRITE) => LockKind::Rwlock,
        () if has(SPIN) => LockKind::Spinlock,
        () if has(READ | WRITE) => LockKind::Rwsem,
        () => LockKind::Semaphore,
    }
}

/// What addresses are called.
struct Names {
    functions: Table,
    all: Table,
    /// Where the kernel begins, if it lists its variables.
    begin: Option<u64>,
    lock_code: Vec<Range<u64>>,
}

impl Names {
    fn new(text: &Rc<str>) -> Self {
        let address = |name| kallsyms::address(text, name);
        let range = |(begin, end)| Some(address(begin)?..address(end)?);
        Self {
            functions: Table::of_functions(text),
            all: Table::of_all(text),
            begin: address("init_task").and_then(|_| address("_text")),
            lock_code: LOCK_CODE.into_iter().filter_map(range).collect(),
        }
    }

    /// A lock that is a variable of the kernel, or in one. Those in memory of its own have no name, and none has where the kernel
    /// lists functions alone (`CONFIG_KALLSYMS_ALL`).
    fn lock(&self, address: u64) -> Option<String> {
        let begin = self.begin?;
        let symbol = self.all.before(address).filter(|symbol| symbol.address >= begin)?;
        let distance = address - symbol.address;
        Some(if distance == 0 { symbol.name.to_owned() } else { format!("{}+{distance:#x}", symbol.name) })
    }

    /// The function that waits: the first one on a stack that is of no lock.
    fn caller(&self, stack: &[u64]) -> String {
        let name = |address: &u64| self.functions.before(*address).map_or("", |symbol| symbol.name);
        let is_lock = |address: &&u64| {
            self.lock_code.iter().any(|range| range.contains(address)) || LOCKS.contains(&name(address))
        };
        let caller = stack.iter().find(|address| !is_lock(address)).map(name);
        caller.filter(|name| !name.is_empty()).unwrap_or("?").to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T _text
ffffffff81000200 T vfs_write
ffffffff81001000 T __sched_text_start
ffffffff81001000 t mutex_lock
ffffffff81001800 T __sched_text_end
ffffffff81001840 T queued_spin_lock_slowpath
ffffffff81001900 T dput
ffffffff81001f00 D init_task
ffffffff81002000 D tasklist_lock
ffffffff81002040 D init_files
";

    #[test]
    fn the_caller_is_behind_the_functions_of_the_lock() {
        let names = Names::new(&Rc::from(TEXT));
        let base = 0xffff_ffff_8100_0000_u64;
        let caller =
            |offsets: &[u64]| names.caller(&offsets.iter().map(|offset| base + offset).collect::<Vec<_>>());
        assert_eq!(caller(&[0x1010, 0x210, 0x1910]), "vfs_write");
        assert_eq!(caller(&[0x1010, 0x1850, 0x1910]), "dput");
        assert_eq!([caller(&[0x1010]), caller(&[])], ["?", "?"]);
    }

    #[test]
    fn a_lock_has_the_name_of_its_variable() {
        let lock = |address| Names::new(&Rc::from(TEXT)).lock(address);
        assert_eq!(lock(0xffff_ffff_8100_2000).as_deref(), Some("tasklist_lock"));
        assert_eq!(lock(0xffff_ffff_8100_2058).as_deref(), Some("init_files+0x18"));
        assert_eq!(lock(0xffff_8880_0123_4567), None);
        let functions = Names::new(&Rc::from("ffffffff81000000 T _text\n"));
        assert_eq!(functions.lock(0xffff_ffff_8100_2000), None);
    }

    #[test]
    fn kinds_are_told_by_their_flags() {
        let kinds = [MUTEX | SPIN, MUTEX, RT | READ, PERCPU | WRITE, SPIN | READ, SPIN, WRITE, 0].map(kind);
        let named = [
            LockKind::Mutex,
            LockKind::Mutex,
            LockKind::RtMutex,
            LockKind::PercpuRwsem,
            LockKind::Rwlock,
            LockKind::Spinlock,
            LockKind::Rwsem,
            LockKind::Semaphore,
        ];
        assert_eq!(kinds, named);
    }
}
