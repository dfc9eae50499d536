//! `brk`, `stack`, `munmap`: the heap, the stack and everything else of a process.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};
use harness::child::{exit, last_error};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::helper::helper;
use crate::stressor::{Class, Setting, Stressor, number};

const PAGES: Setting = number("pages", "pages by which the break moves", 1..=16384, 64);

pub(super) const BRK: Stressor = Stressor {
    name: "brk",
    classes: &[Class::Vm, Class::Os],
    about: "the program break up and down: sbrk(2), brk(2)",
    operation: "the break moved up, the new pages used, and moved down again",
    verifies: "new pages are 0 and keep what is written; the break is where it was",
    options: &[PAGES],
    body: brk,
    ..Stressor::PLAIN
};

pub(super) const STACK: Stressor = Stressor {
    name: "stack",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "a stack that grows by recursion until it overflows",
    operation: "a child that overflows its stack",
    verifies: "frames keep their content on the way back; an overflow ends in SIGSEGV",
    body: stack,
    ..Stressor::PLAIN
};

pub(super) const MUNMAP: Stressor = Stressor {
    name: "munmap",
    classes: &[Class::Vm, Class::Os],
    about: "a child that unmaps all mappings of its shared libraries and data: munmap(2) of /proc/self/maps",
    operation: "a child that unmaps what it can until it dies or ends",
    verifies: "it ends by itself or by SIGSEGV or SIGBUS",
    body: unmap_all,
    ..Stressor::PLAIN
};

fn brk(worker: &Worker) -> Checked {
    let size = worker.size(&PAGES) * page_size();
    let moved = |by: isize| {
        // SAFETY: only this function moves the break while it is up: it allocates nothing meanwhile.
        let before = unsafe { libc::sbrk(by) };
        if before.addr() == usize::MAX { Err(last_error()) } else { Ok(before) }
    };
    worker.repeat(|| {
        let start = moved(size.cast_signed())?.cast::<u8>();
        // SAFETY: given just now.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start, size) };
        let zeroes = bytes.iter().filter(|&&byte| byte == 0).count();
        bytes.fill(0x5a);
        let kept = bytes.iter().filter(|&&byte| byte == 0x5a).count();
        let end = moved(-size.cast_signed())?;
        equal("new bytes that are 0, and that keep what is written", (zeroes, kept), (size, size))?;
        equal("the break before it moves down", end.addr(), start.addr() + size)
    })
}

/// Uses a page of stack for each level, and gives how many frames were as they were left.
#[inline(never)]
fn descend(levels: usize) -> usize {
    let frame = black_box([levels; 512]);
    let below = if levels == 0 { 0 } else { descend(levels - 1) };
    below + usize::from(black_box(&frame).iter().all(|&word| word == levels))
}

fn stack(worker: &Worker) -> Checked {
    worker.repeat(|| {
        equal("frames that kept their content", descend(64), 65)?;
        let overflowing = helper(|| {
            // A small stack overflows soon: 1 MiB.
            let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
            // SAFETY: the limit is valid.
            harness::sys::succeeded(unsafe { libc::setrlimit(libc::RLIMIT_STACK, &raw const limit) })?;
            black_box(descend(1 << 20));
            Ok(())
        })?;
        equal(
            "what ends a child without stack",
            overflowing.wait()?.terminating_signal(),
            Some(libc::SIGSEGV),
        )
    })
}

/// Start and end of all mappings but those of the program itself, of its stack and of the kernel.
fn foreign_mappings() -> Checked<Vec<(usize, usize)>> {
    let own = std::fs::read_link("/proc/self/exe")?.to_string_lossy().into_owned();
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let foreign =
        maps.lines().filter(|line| !line.contains(&own) && !line.contains("[stack]") && !line.contains("[v"));
    let range = |line: &str| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
    };
    Ok(foreign.filter_map(range).collect())
}

fn unmap_all(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let status = helper(|| {
            for (start, end) in foreign_mappings()? {
                // SAFETY: this process has nothing to lose; the call is made without a function of a library.
                unsafe {
                    std::arch::asm!(
                        "syscall", inout("rax") libc::SYS_munmap => _, in("rdi") start, in("rsi") end - start,
                        out("rcx") _, out("r11") _, options(nostack),
                    );
                }
            }
            exit(0)
        })?
        .wait()?;
        let died = status.terminating_signal();
        holds(
            "it ends as it may",
            status.exited() || [Some(libc::SIGSEGV), Some(libc::SIGBUS)].contains(&died),
        )
    })
}
