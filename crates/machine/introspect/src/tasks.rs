//! The tasks of a kernel.

use serde::{Deserialize, Serialize};

use crate::btf::Types;
use crate::code::{Code, Missing};
use crate::memory::{Memory, list, until_zero};
use crate::orc::Place;
use crate::stack::{Call, calls};

/// The most tasks that are read, and locks that one holds: `MAX_LOCK_DEPTH`.
const TASKS_MAX: usize = 1 << 14;
const LOCKS_MAX: u32 = 48;

/// Bytes of the name of a lock at most.
const NAME_MAX: usize = 128;

/// `PF_KTHREAD`.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// Bits of the state: include/linux/sched.h.
const INTERRUPTIBLE: u32 = 1;
const UNINTERRUPTIBLE: u32 = 2;
const STOPPED: u32 = 4;
const TRACED: u32 = 8;
const PARKED: u32 = 0x40;
const NO_LOAD: u32 = 0x400;
const DEAD: u32 = 0x10;
const ZOMBIE: u32 = 0x20;

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Task {
    /// Its number, and that of its process.
    pub pid: u32,
    /// Of its process.
    pub tgid: u32,
    /// Its name.
    pub name: String,
    /// Its state, by the letter that ps(1) has for it: R, S, D, I, T, t, P, Z or X.
    pub state: char,
    /// Whether it is a thread of the kernel.
    pub is_kernel: bool,
    /// The CPU that it runs on, if it runs.
    pub on_cpu: Option<u32>,
    /// Its calls, the innermost first; those of one that runs are only known where the registers of its CPU are.
    pub calls: Vec<Call>,
    /// The locks that it holds, if the kernel keeps account of that (`CONFIG_LOCKDEP`).
    pub locks: Vec<String>,
}

/// Where a CPU is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    /// `RIP`.
    pub ip: u64,
    /// `RSP`.
    pub sp: u64,
    /// `RBP`.
    pub bp: u64,
}

impl From<Registers> for Place {
    fn from(Registers { ip, sp, bp }: Registers) -> Self {
        Self { ip, sp, bp, is_interrupted: true }
    }
}

/// Where `struct task_struct` has what is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    tasks: u64,
    thread_node: u64,
    signal: u64,
    thread_head: u64,
    pid: u64,
    tgid: u64,
    comm: u64,
    state: u64,
    exit_state: u64,
    flags: u64,
    on_cpu: u64,
    cpu: Option<u64>,
    sp: u64,
    /// Bytes of what a task that does not run has on its stack, and where the return address and the frame are in it.
    frame: u64,
    frame_ip: u64,
    frame_bp: u64,
}

impl Layout {
    pub(crate) fn of(types: &Types) -> Result<Self, Missing> {
        let found = |structure: &str, path: &[&'static str]| {
            types.offset(structure, path).ok_or(Missing::Member(path[0]))
        };
        let task = |path: &[&'static str]| found("task_struct", path);
        let frame = |name: &'static str| found("inactive_task_frame", &[name]);
        Ok(Self {
            tasks: task(&["tasks"])?,
            thread_node: task(&["thread_node"])?,
            signal: task(&["signal"])?,
            thread_head: found("signal_struct", &["thread_head"])?,
            pid: task(&["pid"])?,
            tgid: task(&["tgid"])?,
            comm: task(&["comm"])?,
            state: task(&["__state"]).or_else(|_| task(&["state"]))?,
            exit_state: task(&["exit_state"])?,
            flags: task(&["flags"])?,
            on_cpu: task(&["on_cpu"])?,
            cpu: task(&["thread_info", "cpu"]).or_else(|_| task(&["cpu"])).ok(),
            sp: task(&["thread", "sp"])?,
            frame: types.size("inactive_task_frame").ok_or(Missing::Member("inactive_task_frame"))?,
            frame_ip: frame("ret_addr")?,
            frame_bp: frame("bp")?,
        })
    }
}

/// All tasks, processes in the order in which they were made, with their threads; without the idle ones.
pub(crate) fn tasks(code: &Code, memory: &mut Memory<'_>, cpus: &[Registers]) -> Result<Vec<Task>, Missing> {
    let layout = Layout::of(&code.types)?;
    let found = all(code, &layout, memory)?;
    Ok(found.into_iter().filter_map(|at| task(code, &layout, memory, at, cpus)).collect())
}

/// Where all tasks are, with their numbers and names.
pub(crate) fn threads_of_all(
    code: &Code,
    memory: &mut Memory<'_>,
) -> Result<Vec<(u64, u32, String)>, Missing> {
    let layout = Layout::of(&code.types)?;
    let found = all(code, &layout, memory)?;
    let mut about = |at: u64| {
        let name = until_zero(&memory.bytes(at.checked_add(layout.comm)?, 16)?);
        Some((at, memory.half(at.checked_add(layout.pid)?)?, name))
    };
    Ok(found.into_iter().filter_map(&mut about).collect())
}

/// The task that is there, if one is.
pub(crate) fn task_at(
    code: &Code,
    memory: &mut Memory<'_>,
    at: u64,
    cpus: &[Registers],
) -> Result<Option<Task>, Missing> {
    Ok(task(code, &Layout::of(&code.types)?, memory, at, cpus))
}

/// Where all tasks are.
pub(crate) fn all(code: &Code, layout: &Layout, memory: &mut Memory<'_>) -> Result<Vec<u64>, Missing> {
    let first = code.symbols.address("init_task").ok_or(Missing::Symbols)?;
    let processes = list(memory, first.wrapping_add(layout.tasks), TASKS_MAX);
    let mut found = Vec::new();
    for process in processes {
        found.extend(threads(layout, memory, process.wrapping_sub(layout.tasks)));
        if found.len() >= TASKS_MAX {
            break;
        }
    }
    found.truncate(TASKS_MAX);
    Ok(found)
}

/// The threads of a process: itself, if they cannot be read.
fn threads(layout: &Layout, memory: &mut Memory<'_>, process: u64) -> Vec<u64> {
    let signal = memory.word(process.wrapping_add(layout.signal));
    let Some(head) = signal.and_then(|signal| signal.checked_add(layout.thread_head)) else {
        return vec![process];
    };
    let threads = list(memory, head, TASKS_MAX);
    if threads.is_empty() {
        return vec![process];
    }
    threads.into_iter().map(|entry| entry.wrapping_sub(layout.thread_node)).collect()
}

fn task(code: &Code, layout: &Layout, memory: &mut Memory<'_>, at: u64, cpus: &[Registers]) -> Option<Task> {
    let mut half = |offset: u64| memory.half(at.checked_add(offset)?);
    let (pid, tgid, flags) = (half(layout.pid)?, half(layout.tgid)?, half(layout.flags)?);
    let state = letter(half(layout.state)?, half(layout.exit_state)?);
    let cpu = layout.cpu.and_then(&mut half).unwrap_or(0);
    let on_cpu = (half(layout.on_cpu)? != 0).then_some(cpu);
    let name = until_zero(&memory.bytes(at.checked_add(layout.comm)?, 16)?);
    let place = match on_cpu {
        Some(cpu) => cpus.get(cpu as usize).copied().map(Place::from),
        None => asleep(layout, memory, at),
    };
    let calls = place.map(|place| calls(code, memory, place)).unwrap_or_default();
    let locks = locks(code, memory, at).unwrap_or_default();
    Some(Task { pid, tgid, name, state, is_kernel: flags & KERNEL_THREAD != 0, on_cpu, calls, locks })
}

/// Where a task is that does not run: arch/x86/include/asm/switch_to.h.
fn asleep(layout: &Layout, memory: &mut Memory<'_>, at: u64) -> Option<Place> {
    let frame = memory.word(at.checked_add(layout.sp)?)?;
    Some(Place {
        ip: memory.word(frame.checked_add(layout.frame_ip)?)?,
        sp: frame.checked_add(layout.frame)?,
        bp: memory.word(frame.checked_add(layout.frame_bp)?)?,
        is_interrupted: false,
    })
}

/// Where the frames of a task begin that sleeps.
pub(crate) fn frames(layout: &Layout, memory: &mut Memory<'_>, at: u64) -> Option<u64> {
    let mut half = |offset: u64| memory.half(at.checked_add(offset)?);
    let sleeps = half(layout.state)? & (INTERRUPTIBLE | UNINTERRUPTIBLE) != 0 && half(layout.on_cpu)? == 0;
    memory.word(at.checked_add(layout.sp)?).filter(|_| sleeps)
}

fn letter(state: u32, exit: u32) -> char {
    let has = |bit: u32| state & bit != 0;
    match () {
        () if exit & ZOMBIE != 0 => 'Z',
        () if exit & DEAD != 0 => 'X',
        () if has(UNINTERRUPTIBLE) && has(NO_LOAD) => 'I',
        () if has(UNINTERRUPTIBLE) => 'D',
        () if has(INTERRUPTIBLE) => 'S',
        () if has(STOPPED) => 'T',
        () if has(TRACED) => 't',
        () if has(PARKED) => 'P',
        () => 'R',
    }
}

/// The locks that a task holds, the last one first, as lockdep has them.
fn locks(code: &Code, memory: &mut Memory<'_>, task: u64) -> Option<Vec<String>> {
    let Code { symbols, types, .. } = code;
    let member = |name: &'static str| task.checked_add(types.offset("task_struct", &[name])?);
    let (depth, held) = (memory.half(member("lockdep_depth")?)?.min(LOCKS_MAX), member("held_locks")?);
    let (size, instance) = (types.size("held_lock")?, types.offset("held_lock", &["instance"])?);
    let class = types.member("held_lock", &["class_idx"])?;
    let (classes, class_size) = (symbols.address("lock_classes")?, types.size("lock_class")?);
    let name = types.offset("lock_class", &["name"])?;
    let lock = |number: u32| {
        let at = held.checked_add(size * u64::from(number))?;
        let instance = memory.word(at.checked_add(instance)?)?;
        let bits = memory.half(at.checked_add(class.bits / 32 * 4)?)? >> (class.bits % 32);
        let index = u64::from(bits & 1_u32.checked_shl(class.width)?.wrapping_sub(1));
        let text = memory.word(classes.checked_add(class_size.checked_mul(index)?)?.checked_add(name)?)?;
        Some(format!("{} ({instance:#x})", memory.text(text, NAME_MAX)?))
    };
    Some((0..depth).rev().filter_map(lock).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_letters_of_ps() {
        let letters =
            [(0, 0), (1, 0), (2, 0), (0x402, 0), (0x102, 0), (4, 0), (8, 0), (0, 0x20), (0x80, 0x10)];
        assert_eq!(letters.map(|(state, exit)| letter(state, exit)).iter().collect::<String>(), "RSDIDTtZX");
    }
}
