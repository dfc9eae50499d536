//! Processes and threads: fork(2), vfork(2), clone(2), execve(2), wait(2).

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use harness::check::{Checked, equal};
use harness::child::{Child, exec, exit, fork, last_error};
use harness::memory::Area;
use rustix::io::Errno;
use rustix::mm::MapFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, waitid, waitpid};
use rustix::thread::futex;

use super::parts::{gives, nothing, resting_child};
use crate::{EXIT_AT_ONCE, Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("process/fork", "fork(2), the child's _exit(2), wait4(2)", fork_exit_wait),
    Operation::new(
        "process/fork-4m",
        "fork(2) with 4 MiB more of memory in use, the child's _exit(2), wait4(2)",
        fork_large,
    ),
    Operation::new("process/vfork", "vfork(2), the child's _exit(2), wait4(2)", vfork_exit_wait),
    Operation::new(
        "process/fork-exec",
        "fork(2), execve(2) of a small static program, its exit, wait4(2)",
        fork_exec,
    ),
    Operation::new(
        "process/vfork-exec",
        "vfork(2), execve(2) of a small static program, its exit, wait4(2)",
        vfork_exec,
    ),
    Operation::new(
        "process/clone-thread",
        "clone(2) of a thread, its end, and waiting for that by a futex",
        thread,
    ),
    Operation::new("process/wait", "wait4(2) of a process that has ended", wait_ended),
    Operation::new("process/wait-nohang", "wait4(2) WNOHANG of a process that has not ended", wait_nothing),
    Operation::new("process/kill-wait", "kill(2) SIGKILL of a process that rests, wait4(2) of it", kill_wait),
];

type Ended = Option<(Pid, WaitStatus)>;

/// A code that nothing else gives.
const CODE: i32 = 7;

fn has_code(ended: Ended, code: i32) -> Checked {
    equal("exit status", ended.and_then(|(_, status)| status.exit_status()), Some(code))
}

fn fork_and_wait() -> Result<Ended, Errno> {
    match fork()? {
        None => exit(CODE),
        child => waitpid(child, WaitOptions::empty()),
    }
}

fn fork_exit_wait(meter: &mut Meter) -> Checked {
    meter.around(nothing, |()| fork_and_wait(), |(), ended| has_code(ended, CODE))
}

fn fork_large(meter: &mut Meter) -> Checked {
    let area = Area::new(4 << 20, MapFlags::PRIVATE)?.without_huge_pages()?;
    area.touch_all();
    fork_exit_wait(meter)
}

type Entry = extern "C" fn(*mut c_void) -> c_int;

/// clone(2) of a child that shares this process's memory and begins with `entry` on a stack of its own.
fn clone(entry: Entry, flags: c_int, stack: Area, word: *mut c_void) -> Result<Pid, Errno> {
    let (top, nothing) = (stack.start.wrapping_add(stack.length), std::ptr::null_mut::<c_void>());
    // SAFETY: the stack is the child's alone, and the entries do not more than a system call.
    let pid = unsafe { libc::clone(entry, top.cast(), flags, nothing, nothing, nothing, word) };
    Pid::from_raw(pid.max(0)).ok_or_else(last_error)
}

fn stack() -> Result<Area, Errno> {
    let stack = Area::new(64 << 10, MapFlags::PRIVATE)?;
    stack.touch_all();
    Ok(stack)
}

extern "C" fn end(_: *mut c_void) -> c_int {
    CODE
}

/// Becomes this program again, which ends at once.
extern "C" fn become_new(_: *mut c_void) -> c_int {
    let _ = exec(c"/proc/self/exe", &[c"micro", EXIT_AT_ONCE], &[]);
    CODE
}

/// vfork(2): the parent goes on when the child has ended or become another program.
fn vfork_and_wait(entry: Entry, stack: Area) -> Result<Ended, Errno> {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let pid = clone(entry, flags, stack, std::ptr::null_mut())?;
    waitpid(Some(pid), WaitOptions::empty())
}

fn vfork_exit_wait(meter: &mut Meter) -> Checked {
    let stack = stack()?;
    meter.around(nothing, |()| vfork_and_wait(end, stack), |(), ended| has_code(ended, CODE))
}

fn vfork_exec(meter: &mut Meter) -> Checked {
    let stack = stack()?;
    meter.around(nothing, |()| vfork_and_wait(become_new, stack), |(), ended| has_code(ended, 0))
}

fn fork_exec(meter: &mut Meter) -> Checked {
    let operation = |(): &mut ()| match fork()? {
        None => exit(become_new(std::ptr::null_mut())),
        child => waitpid(child, WaitOptions::empty()),
    };
    meter.around(nothing, operation, |(), ended| has_code(ended, 0))
}

fn thread(meter: &mut Meter) -> Checked {
    const FLAGS: c_int = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_CHILD_CLEARTID;
    let (stack, alive) = (stack()?, AtomicU32::new(0));
    let operation = |(): &mut ()| {
        alive.store(1, SeqCst);
        clone(end, FLAGS, stack, alive.as_ptr().cast())?;
        // The kernel sets it to 0 and wakes who waits: CLONE_CHILD_CLEARTID of clone(2).
        while alive.load(SeqCst) == 1 {
            match futex::wait(&alive, futex::Flags::empty(), 1, None) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    meter.around(nothing, operation, |(), ()| equal("threads that are alive", alive.load(SeqCst), 0))
}

fn wait_ended(meter: &mut Meter) -> Checked {
    let ended = || {
        let Some(pid) = fork()? else { exit(CODE) };
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        Ok(pid)
    };
    meter.around(ended, |&mut pid| waitpid(Some(pid), WaitOptions::empty()), |_, ended| has_code(ended, CODE))
}

fn wait_nothing(meter: &mut Meter) -> Checked {
    let alive = resting_child()?;
    gives(meter, "what has ended", true, || {
        waitpid(Some(alive.pid()), WaitOptions::NOHANG).map(|ended| ended.is_none())
    })
}

fn kill_wait(meter: &mut Meter) -> Checked {
    let operation = |resting: &mut Option<Child>| match resting.take() {
        Some(child) => {
            child.kill(Signal::KILL)?;
            child.wait()
        }
        None => Err(Errno::CHILD),
    };
    meter.around(
        || resting_child().map(Some),
        operation,
        |_, status| equal("the signal that ended it", status.terminating_signal(), Some(libc::SIGKILL)),
    )
}
