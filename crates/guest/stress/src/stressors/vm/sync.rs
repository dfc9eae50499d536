//! `msync`, `stackmmap`: mappings of files that are written back.

use harness::check::{Checked, equal, holds};
use harness::child::Child;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, msync};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::memory::{Memory, pages};
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "size of the file", 65536..=1 << 30, 16 << 20);
const STACK: Setting = size("bytes", "size of the stack", 1 << 20..=64 << 20, 2 << 20);

pub(super) const MSYNC: Stressor = Stressor {
    name: "msync",
    classes: &[Class::Vm, Class::Os],
    about: "memory to file and file to memory: msync(2) with MS_SYNC and MS_INVALIDATE",
    operation: "a page in each direction",
    verifies: "the file has what was written to memory, and memory what was written to the file",
    options: &[BYTES],
    body: both_ways,
    ..Stressor::PLAIN
};

pub(super) const STACKMMAP: Stressor = Stressor {
    name: "stackmmap",
    classes: &[Class::Vm, Class::Memory],
    about: "recursion on a stack that is mapped on a file, flushed by msync(2) on the way",
    operation: "a way down to the last page of the stack and back",
    verifies: "each frame keeps its content, and the file holds the frames",
    options: &[STACK],
    body: stack_on_file,
    ..Stressor::PLAIN
};

fn both_ways(worker: &Worker) -> Checked {
    let (count, page, mut random) = (pages(worker.size(&BYTES)), page_size(), worker.random());
    let file = file::create("synced")?;
    file.set_len((count * page) as u64)?;
    let mut memory = Memory::of(&file, count * page)?;
    worker.repeat(|| {
        let (at, seed) = (random.below(count) * page, random.next_u64());
        content::fill(&mut memory[at..at + page], seed, 0);
        sync(&memory, at, MsyncFlags::SYNC)?;
        let mut bytes = vec![0; page];
        equal("bytes read", rustix::io::pread(&file, &mut *bytes, at as u64)?, page)?;
        content::verify("the file", &bytes, seed, 0)?;
        let written = rustix::io::pwrite(&file, &content::of(page, !seed, 0), at as u64)?;
        equal("bytes written", written, page)?;
        sync(&memory, at, MsyncFlags::INVALIDATE)?;
        content::verify("the memory", &memory[at..at + page], !seed, 0)
    })
}

fn sync(memory: &Memory, at: usize, how: MsyncFlags) -> Result<(), rustix::io::Errno> {
    // SAFETY: a page of the mapping, whose content stays.
    unsafe { msync(memory.area().start.add(at).cast(), page_size(), how) }
}

fn stack_on_file(worker: &Worker) -> Checked {
    let size = pages(worker.size(&STACK)) * page_size();
    let file = file::create("stack")?;
    file.set_len(size as u64)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let memory = Memory::with(&file, size, access, MapFlags::SHARED)?;
    worker.repeat(|| {
        // A process of its own: what it does on the stack stays there.
        helper(|| on_stack(&memory)).and_then(Child::succeeds)?;
        let mut frame = vec![0; page_size()];
        equal(
            "bytes read",
            rustix::io::pread(&file, &mut *frame, (size - 8 * page_size()) as u64)?,
            page_size(),
        )?;
        holds("the file holds frames", frame.iter().any(|&byte| byte != 0))
    })
}

/// Levels of recursion for which a stack has room: a level takes less than three pages.
fn levels(size: usize) -> usize {
    size / page_size() / 3
}

/// Calls [`descend`] with the stack pointer at the end of `memory`.
fn on_stack(memory: &Memory) -> Checked {
    let (top, count) = (memory.area().start.addr() + memory.len(), levels(memory.len()));
    let kept: usize;
    // SAFETY: the function is called with an aligned stack of its own, and the old one is restored. A register that
    // functions preserve keeps the old one.
    unsafe {
        std::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {descend}",
            "mov rsp, r12",
            top = in(reg) top,
            descend = sym descend,
            out("r12") _,
            inout("rdi") count => _,
            lateout("rax") kept,
            clobber_abi("C"),
        );
    }
    equal("frames that kept their content", kept, count + 1)
}

/// Takes a page for each level and flushes it; gives how many frames were as they were left.
extern "C" fn descend(levels: usize) -> usize {
    let frame = std::hint::black_box([levels + 1; 512]);
    let page = (&raw const frame).addr() / page_size() * page_size();
    // SAFETY: a page of the stack, which is a mapping of a file; its content stays.
    let synced = unsafe { msync(std::ptr::without_provenance_mut(page), page_size(), MsyncFlags::ASYNC) };
    let below = if levels == 0 { 0 } else { descend(levels - 1) };
    let is_kept = std::hint::black_box(&frame).iter().all(|&word| word == levels + 1);
    below + usize::from(is_kept && synced.is_ok())
}
