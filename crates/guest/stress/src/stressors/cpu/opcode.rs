//! `opcode`: random machine code in children that may make no system call.

use harness::check::{Checked, holds, skip};
use harness::child::{exit, last_error};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::helper::helper;
use crate::stressor::{Class, Need, Setting, Stressor, choice};
use harness::random::Random;

const METHOD: Setting = choice("method", "where the code comes from", &["random", "inc", "mixed", "text"]);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "opcode",
    classes: &[Class::Cpu, Class::Os],
    about: "machine code of random bytes, of counted bytes, or of shuffled pieces of this program",
    operation: "a page of code, executed until it comes to its end or dies",
    verifies: "the child exits, or dies of a signal that its code or its time limit can cause",
    options: &[METHOD],
    needs: &[Need::Config("SECCOMP")],
    body,
    ..Stressor::PLAIN
};

/// What code can do to itself; SIGKILL is what the kernel answers to a system call, SIGALRM what ends a loop.
const DEATHS: [libc::c_int; 8] = [
    libc::SIGILL,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGKILL,
    libc::SIGALRM,
];

/// `ret` of x86: the end of a page of code.
const RETURN: u8 = 0xc3;

/// How long code may run, in microseconds.
const LIMIT_US: libc::suseconds_t = 20_000;

fn body(worker: &Worker) -> Checked {
    let (mut random, mut counter) = (worker.random(), 0);
    worker.repeat(|| {
        let mut code = vec![0; page_size()];
        fill(worker.choice(&METHOD), &mut code, &mut random, &mut counter);
        without_far_transfers(&mut code);
        code.push(RETURN);
        let status = helper(|| execute(&code))?.wait()?;
        let is_expected =
            status.exited() || status.terminating_signal().is_some_and(|by| DEATHS.contains(&by));
        holds(&format!("{status:?} is an end that code can have"), is_expected)
    })
}

fn fill(method: usize, code: &mut [u8], random: &mut Random, counter: &mut u32) {
    match method {
        1 => code.chunks_mut(4).for_each(|chunk| {
            *counter = counter.wrapping_add(1);
            chunk.copy_from_slice(&counter.to_le_bytes()[..chunk.len()]);
        }),
        2 => code.chunks_mut(16).for_each(|chunk| {
            random.fill(chunk);
            chunk[0] = chunk[0].count_ones() as u8;
        }),
        3 => code.chunks_mut(64).for_each(|chunk| {
            // SAFETY: code of this program, far longer than what is read behind the start of this function.
            let text =
                unsafe { std::slice::from_raw_parts((body as *const u8).add(random.below(64)), chunk.len()) };
            chunk.copy_from_slice(text);
        }),
        _ => random.fill(code),
    }
}

/// Takes far returns, calls and jumps out of the code, wherever it may be entered. QEMU 7.2 reads the stack of a far return
/// as the kernel would: a fault there kills the machine, and it is not the kernel's.
fn without_far_transfers(code: &mut [u8]) {
    const NOP: u8 = 0x90;
    /// RETF with and without a number, and IRET.
    const RETURNS: [u8; 3] = [0xca, 0xcb, 0xcf];
    code.iter_mut().filter(|byte| RETURNS.contains(byte)).for_each(|byte| *byte = NOP);
    for at in 1..code.len() {
        // The second byte names the operation of a group: 3 is a far call, 5 a far jump.
        if code[at - 1] == 0xff && [3, 5].contains(&(code[at] >> 3 & 7)) {
            code[at] = NOP;
        }
    }
}

/// Runs code in this process, which has nothing to lose: no descriptor, no system call.
fn execute(code: &[u8]) -> Checked {
    let flags = MapFlags::PRIVATE;
    let size = code.len().next_multiple_of(page_size());
    // SAFETY: a new mapping at an address that the kernel chooses.
    let place = unsafe { mmap_anonymous(std::ptr::null_mut(), size, ProtFlags::WRITE, flags)? };
    // SAFETY: mapped just now, with room for the code.
    unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), place.cast(), code.len()) };
    // SAFETY: nothing refers to the mapping.
    unsafe { mprotect(place, size, MprotectFlags::READ | MprotectFlags::EXEC)? };
    let limit = libc::timeval { tv_sec: 0, tv_usec: LIMIT_US };
    harness::sys::set_interval(libc::ITIMER_REAL, limit)?;
    // SAFETY: closing all of them; none is used after this.
    unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) };
    // SAFETY: takes no memory.
    if unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT, 0, 0, 0) } == -1 {
        return skip(&format!("strict seccomp: {}", last_error()));
    }
    // SAFETY: whatever the code does, it does to this process, which ends here.
    unsafe {
        let code: extern "C" fn() = std::mem::transmute(place);
        code();
        // The one way to exit that strict seccomp allows.
        libc::syscall(libc::SYS_exit, 0);
    }
    exit(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_far_transfer_is_left_at_any_place() {
        let mut code = vec![0; 1 << 16];
        Random::new(1).fill(&mut code);
        without_far_transfers(&mut code);
        assert!(!code.iter().any(|byte| [0xca, 0xcb, 0xcf].contains(byte)));
        let is_far = |pair: &[u8]| pair[0] == 0xff && [0x18, 0x28].contains(&(pair[1] & 0x38));
        assert!(!code.windows(2).any(is_far));
    }
}
