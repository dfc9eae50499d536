//! A machine whose kernel is as small as one can be: page tables, symbols, types, frames, a task that sleeps for a mutex in the code of a module.

use introspect::{Kernel, Known, Physical, Registers, Sleepers, Tables};

use super::lists;

/// Where the kernel is, for itself and in the machine, and how long it is.
pub(crate) const BASE: u64 = 0xffff_ffff_8100_0000;
const PLACE: usize = 0x1_0000;
const PAGES: usize = 32;

/// What it has, from its beginning on. Behind `END` there are no variables.
pub(crate) const SCHEDULE: u64 = 0x100;
pub(crate) const MUTEX_LOCK: u64 = 0x200;
const PADDING: u64 = 0x400;
const END_OF_CODE: u64 = 0x1000;
pub(crate) const INIT_TASK: u64 = 0x1000;
pub(crate) const MUTEX: u64 = 0x1100;
const PER_CPU: u64 = 0x1140;
const PER_CPU_END: u64 = 0x1180;
const PER_CPU_OFFSET: u64 = 0x1180;
const NR_CPUS: u64 = 0x1190;
const MODULES: u64 = 0x11a0;
const SLAB_CACHES: u64 = 0x11b0;
const DIRECT_BASE: u64 = 0x11c0;
const PAGES_BASE: u64 = 0x11c8;
const LOCK_CLASSES: u64 = 0x11d0;
const END: u64 = 0x1200;
pub(crate) const TASK: u64 = 0x1400;
const SIGNAL: u64 = 0x1500;
const MODULE: u64 = 0x1600;
const MODULE_LIST: u64 = 0x1700;
const MODULE_SYMBOLS: u64 = 0x1720;
const MODULE_NAMES: u64 = 0x1740;
const MODULE_ORC_IP: u64 = 0x1760;
const MODULE_ORC: u64 = 0x1770;
const CACHE: u64 = 0x1800;
const CACHE_NAME: u64 = 0x1840;
const PAGE_TABLE: u64 = 0x1900;
const LOCK_NAME: u64 = 0x1a00;
const TABLES: u64 = 0x2000;
const STACK: u64 = 0x3000;
const SP: u64 = STACK + 0x800;
const WAITER: u64 = SP + 0x40;
const ORC_IP: u64 = 0x4000;
const ORC: u64 = 0x4100;
const BTF: u64 = 0x5000;
const KALLSYMS: u64 = 0x8000;
const MODULE_CODE: u64 = 0x1_f000;

/// Where all memory is mapped, and what a CPU has to add for its own variables.
pub(crate) const DIRECT: u64 = 0xffff_8880_0000_0000;
pub(crate) const OF_CPU: u64 = 0x1000_0000;

/// Where the CPU is.
pub(crate) const CPU: Registers = Registers { ip: BASE + SCHEDULE + 0x10, sp: BASE + SP, bp: 0 };

const NAMES: &[(&str, u64)] = &[
    ("T_text", 0),
    ("T_stext", 0),
    ("Tschedule", SCHEDULE),
    ("T__mutex_lock", MUTEX_LOCK),
    ("T_etext", END_OF_CODE),
    ("Dinit_task", INIT_TASK),
    ("da_mutex", MUTEX),
    ("Acounts", PER_CPU),
    ("A__per_cpu_start", PER_CPU),
    ("A__per_cpu_end", PER_CPU_END),
    ("D__per_cpu_offset", PER_CPU_OFFSET),
    ("Dnr_cpu_ids", NR_CPUS),
    ("dmodules", MODULES),
    ("dslab_caches", SLAB_CACHES),
    ("Dpage_offset_base", DIRECT_BASE),
    ("Dvmemmap_base", PAGES_BASE),
    ("dlock_classes", LOCK_CLASSES),
    ("B_end", END),
    ("Dinit_top_pgt", TABLES),
    ("r__start_orc_unwind_ip", ORC_IP),
    ("r__stop_orc_unwind_ip", ORC_IP + 8),
    ("r__start_orc_unwind", ORC),
];

/// Memory from address 0 on.
#[derive(Clone)]
pub(crate) struct Machine(Vec<u8>);

impl Physical for Machine {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let begin = usize::try_from(address).unwrap_or(usize::MAX);
        let found = begin.checked_add(bytes.len()).and_then(|end| self.0.get(begin..end));
        found.map(|found| bytes.copy_from_slice(found)).is_some()
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        let mut machine = Self(vec![0; PLACE + PAGES * 4096]);
        machine.map();
        machine.list();
        machine.make_module();
        machine.make_task();
        machine.make_places();
        machine
    }

    /// As the CPU has them.
    pub(crate) const fn tables() -> Tables {
        Tables { cr3: PLACE as u64 + TABLES, has_five_levels: false }
    }

    /// Changes bytes: each change is a place (three bytes), a length and so many bytes, eight at most.
    pub(crate) fn change(&mut self, mut changes: &[u8]) {
        while let [a, b, c, length, rest @ ..] = changes {
            let place = u32::from_le_bytes([*a, *b, *c, 0]) as usize % self.0.len();
            let (bytes, rest) = rest.split_at(rest.len().min(usize::from(length % 9)));
            self.0.iter_mut().skip(place).zip(bytes).for_each(|(old, new)| *old = *new);
            changes = rest;
        }
    }

    /// Writes bytes of the kernel.
    fn write(&mut self, at: u64, bytes: &[u8]) {
        let begin = PLACE + at as usize;
        self.0[begin..begin + bytes.len()].copy_from_slice(bytes);
    }

    fn words(&mut self, at: u64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(at, &bytes);
    }

    fn halves(&mut self, at: u64, halves: &[u32]) {
        let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        self.write(at, &bytes);
    }

    /// Page tables; all but the first are before the kernel.
    fn map(&mut self) {
        self.words(TABLES + 8 * 511, &[0x2003]);
        let mut entry = |table: usize, index: usize, entry: u64| {
            self.0[table + 8 * index..][..8].copy_from_slice(&entry.to_le_bytes());
        };
        entry(0x2000, 510, 0x3003);
        entry(0x3000, 8, 0x4003);
        for page in 0..PAGES {
            entry(0x4000, page, (PLACE + page * 4096) as u64 | 3);
        }
    }

    /// Symbols, types and frames.
    fn list(&mut self) {
        let types = lists::types();
        self.write(BTF, &types);
        let padding = (0..257).map(|number| (format!("Tf{number:03}"), PADDING + 8 * number));
        let mut symbols: Vec<(String, u64)> = padding.collect();
        symbols.extend(NAMES.iter().map(|(name, at)| ((*name).to_owned(), *at)));
        symbols.push(("r__start_BTF".to_owned(), BTF));
        symbols.push(("r__stop_BTF".to_owned(), BTF + types.len() as u64));
        self.write(KALLSYMS, &lists::symbols(BASE, &symbols));
        // The stack pointer is where the address of the caller is, or 0x58 bytes before it.
        self.orc(ORC_IP, ORC, &[(SCHEDULE, 8, lists::CALL), (MUTEX_LOCK, 0x60, lists::CALL)]);
    }

    /// Rules for frames.
    fn orc(&mut self, addresses: u64, entries: u64, rules: &[(u64, u8, u8)]) {
        for (number, (code, sp, kind)) in (0..).zip(rules) {
            let at = addresses + 4 * number;
            self.halves(at, &[code.wrapping_sub(at) as u32]);
            self.write(entries + 6 * number, &[*sp, 0, 0, 0, lists::BY_STACK_POINTER, *kind]);
        }
    }

    /// A module with one function.
    fn make_module(&mut self) {
        self.words(MODULES, &[BASE + MODULE, BASE + MODULE]);
        self.words(MODULE, &[BASE + MODULES, BASE + MODULES]);
        self.write(MODULE + 16, b"small");
        self.words(MODULE + 72, &[BASE + MODULE_LIST, BASE + MODULE_CODE, 0x100]);
        self.words(MODULE + 168, &[1, BASE + MODULE_ORC_IP, BASE + MODULE_ORC]);
        self.words(MODULE_LIST, &[BASE + MODULE_SYMBOLS, 1, BASE + MODULE_NAMES]);
        // The name and its section, then where it is and how long.
        self.words(MODULE_SYMBOLS, &[1 << 48 | 1, BASE + MODULE_CODE, 0x40]);
        self.write(MODULE_NAMES, b"\0read_it\0");
        self.orc(MODULE_ORC_IP, MODULE_ORC, &[(MODULE_CODE, 0, lists::END)]);
    }

    /// The idle task, and one that sleeps.
    fn make_task(&mut self) {
        self.words(INIT_TASK, &[BASE + TASK, BASE + TASK]);
        self.words(TASK, &[BASE + INIT_TASK, BASE + INIT_TASK]);
        self.words(TASK + 16, &[BASE + SIGNAL, BASE + SIGNAL, BASE + SIGNAL]);
        self.words(SIGNAL, &[BASE + TASK + 16, BASE + TASK + 16]);
        self.halves(TASK + 40, &[7, 7]);
        self.write(TASK + 48, b"cat");
        self.halves(TASK + 64, &[2]);
        self.words(TASK + 88, &[BASE + SP, BASE + STACK]);
        self.halves(TASK + 120, &[1]);
        // One lock that it holds.
        self.words(TASK + 128, &[BASE + MUTEX, 1]);
        self.words(LOCK_CLASSES + 16, &[BASE + LOCK_NAME]);
        self.write(LOCK_NAME, b"&small->lock\0");
        // What it has on its stack: where it left its CPU, its callers, and the entry of the list of waiters.
        self.words(SP, &[0, BASE + SCHEDULE + 0x80, BASE + MUTEX_LOCK + 0x20]);
        self.words(SP + 0x18 + 0x58, &[BASE + MODULE_CODE + 0x10]);
        self.words(WAITER, &[BASE + MUTEX + 16, BASE + MUTEX + 16, BASE + TASK]);
        self.words(MUTEX, &[(BASE + INIT_TASK) | 1, 0, BASE + WAITER, BASE + WAITER]);
    }

    /// A variable of each CPU, and an object of the slab allocator.
    fn make_places(&mut self) {
        self.words(PER_CPU_OFFSET, &[OF_CPU]);
        self.halves(NR_CPUS, &[1]);
        self.words(DIRECT_BASE, &[DIRECT, BASE + PAGE_TABLE]);
        self.words(SLAB_CACHES, &[BASE + CACHE, BASE + CACHE]);
        self.words(CACHE, &[BASE + SLAB_CACHES, BASE + SLAB_CACHES, BASE + CACHE_NAME]);
        self.halves(CACHE + 24, &[0x40]);
        self.write(CACHE_NAME, b"files\0");
        self.words(PAGE_TABLE + 64, &[0, 0, BASE + CACHE]);
    }
}

/// Looks at all that a kernel shows.
pub(crate) fn look(machine: &mut Machine) {
    let Ok(mut kernel) = Kernel::find(machine, Machine::tables()) else { return };
    for task in kernel.tasks(&[CPU]).unwrap_or_default() {
        let _ = kernel.lock(BASE + TASK, &task.calls);
        assert!(!task.lines().is_empty() && task.calls.len() <= 64);
    }
    let _ = kernel.calls(CPU);
    for at in [BASE + MUTEX, BASE + TASK + 76, BASE + PER_CPU + OF_CPU, DIRECT + 0x1030, u64::MAX] {
        let _ = (kernel.data(at), kernel.function(at), kernel.bytes(at, 9));
    }
    let _ = (kernel.variable("a_mutex"), kernel.variable("counts"));
    let Ok(sleepers) = Sleepers::find(machine, Machine::tables()) else { return };
    for sleeper in sleepers.look(machine) {
        let _ = sleepers.kernel(machine).task(sleeper.task, &[CPU]);
    }
    let _ = Known::find(machine, Machine::tables());
}
