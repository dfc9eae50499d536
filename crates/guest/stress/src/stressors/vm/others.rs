//! `vm-rw`, `rmap`, `mmapmany`: memory of other processes, pages that many map, and many mappings.

use std::sync::atomic::Ordering;

use harness::check::{Checked, equal, fails, holds, skip};
use harness::child::{Child, pause_forever};
use harness::memory::READ_WRITE;
use harness::sys::call;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, mmap_anonymous, msync, munmap};
use rustix::param::page_size;
use rustix::process::Pid;

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::memory::{Memory, whole_pages};
use crate::kit::{content, file};
use crate::stressor::{Class, Need, Setting, Stressor, number, size};

const BYTES: Setting = size("bytes", "memory of the other process", 65536..=64 << 20, 1 << 20);
const PROCESSES: Setting = number("processes", "processes that map the same pages", 2..=64, 8);
const PAGES: Setting = number("pages", "pages of the file", 4..=4096, 64);
const MAPPINGS: Setting = number("mappings", "mappings at a time", 16..=40_000, 4096);

pub(super) const VM_RW: Stressor = Stressor {
    name: "vm-rw",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "memory of another process: process_vm_readv(2), process_vm_writev(2)",
    operation: "all of it written and read",
    verifies: "what was written is read; addresses that are not there give EFAULT",
    options: &[BYTES],
    needs: &[Need::Config("CROSS_MEMORY_ATTACH")],
    body: other_process,
    ..Stressor::PLAIN
};

pub(super) const RMAP: Stressor = Stressor {
    name: "rmap",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "pages of a file that many processes map at overlapping places",
    operation: "each process adds to each page, and writes some back",
    verifies: "no addition of any process is lost",
    options: &[PROCESSES, PAGES],
    body: overlapping,
    ..Stressor::PLAIN
};

pub(super) const MMAPMANY: Stressor = Stressor {
    name: "mmapmany",
    classes: &[Class::Vm, Class::Os],
    about: "as many mappings as fit, each of three pages with a hole in the middle",
    operation: "a mapping",
    verifies: "each mapping keeps what was written to its ends; the limit of mappings gives ENOMEM",
    options: &[MAPPINGS],
    body: many,
    ..Stressor::PLAIN
};

/// Moves bytes between this process and another.
fn transfer(number: libc::c_long, pid: Pid, own: &mut [u8], other: usize) -> Result<usize, Errno> {
    let own = libc::iovec { iov_base: own.as_mut_ptr().cast(), iov_len: own.len() };
    let other = libc::iovec { iov_base: std::ptr::without_provenance_mut(other), iov_len: own.iov_len };
    let (here, there) = ((&raw const own).addr(), (&raw const other).addr());
    let pid = pid.as_raw_pid().unsigned_abs() as usize;
    // SAFETY: one range in each process; the kernel checks that of the other.
    unsafe { call(number, [pid, here, 1, there, 1, 0]) }
}

fn other_process(worker: &Worker) -> Checked {
    let (size, mut random) = (whole_pages(worker.size(&BYTES)), worker.random());
    let memory = Memory::private(size)?;
    let place = memory.area().start.addr();
    let other = helper(|| pause_forever())?;
    let (pid, mut bytes) = (other.pid(), vec![0; size]);
    worker.repeat(|| {
        let seed = random.next_u64();
        content::fill(&mut bytes, seed, 0);
        match transfer(libc::SYS_process_vm_writev, pid, &mut bytes, place) {
            Err(Errno::PERM | Errno::NOSYS) => return skip("memory of another process is out of reach here"),
            written => equal("bytes written", written?, size)?,
        }
        bytes.fill(0);
        equal("bytes read", transfer(libc::SYS_process_vm_readv, pid, &mut bytes, place)?, size)?;
        content::verify("memory of the other process", &bytes, seed, 0)?;
        equal("bytes of this one's that are not 0", content::nonzero(&memory), 0)?;
        fails(
            "an address that is not there",
            transfer(libc::SYS_process_vm_readv, pid, &mut bytes, 8),
            Errno::FAULT,
        )
    })
}

fn overlapping(worker: &Worker) -> Checked {
    let (processes, pages, page) = (worker.size(&PROCESSES), worker.size(&PAGES), page_size());
    let file = file::create("mapped")?;
    worker.repeat(|| {
        file.set_len(0)?;
        file.set_len((pages * page) as u64)?;
        let add = |number: usize| {
            helper(|| {
                let memory = Memory::of(&file, pages * page)?;
                for at in (0..pages).map(|at| (at + number) % pages) {
                    memory.atomics()[at * page / 8].fetch_add(1, Ordering::Relaxed);
                    if at % 16 == number % 16 {
                        let start = memory.area().page(at).cast();
                        // SAFETY: a page of the mapping, whose content stays.
                        unsafe { msync(start, page, MsyncFlags::ASYNC)? };
                    }
                }
                Ok(())
            })
        };
        let all = (0..processes).map(add).collect::<Checked<Vec<Child>>>()?;
        all.into_iter().try_for_each(Child::succeeds)?;
        let memory = Memory::of(&file, pages * page)?;
        let sums = (0..pages).map(|at| memory.atomics()[at * page / 8].load(Ordering::Relaxed));
        holds("no addition is lost", sums.into_iter().all(|sum| sum == processes as u64))
    })
}

/// Three pages, of which the one in the middle is taken away: two mappings.
fn with_hole() -> Result<*mut u64, Errno> {
    let page = page_size();
    // SAFETY: a new mapping at an address that the kernel chooses.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), 3 * page, READ_WRITE, MapFlags::PRIVATE)? };
    // SAFETY: the page in the middle of it.
    match unsafe { munmap(start.byte_add(page), page) } {
        Ok(()) => Ok(start.cast()),
        Err(error) => {
            // SAFETY: all of it; nothing refers to it.
            unsafe { munmap(start, 3 * page)? };
            Err(error)
        }
    }
}

fn many(worker: &Worker) -> Checked {
    let (most, page) = (worker.size(&MAPPINGS), page_size());
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    let limit: usize = limit.trim().parse().unwrap_or(usize::MAX);
    while worker.goes_on() {
        let mut all = Vec::new();
        while all.len() < most && worker.goes_on() {
            match with_hole() {
                Err(Errno::NOMEM) if all.len() * 2 + 1000 > limit => break,
                start => all.push(start?),
            }
            worker.count();
        }
        let end = |start: *mut u64| start.wrapping_byte_add(2 * page);
        for (&start, number) in all.iter().zip(0_u64..) {
            // SAFETY: the ends of a mapping of `with_hole`.
            unsafe {
                start.write_volatile(number);
                end(start).write_volatile(!number);
            }
        }
        for (&start, number) in all.iter().zip(0_u64..) {
            // SAFETY: as above.
            let ends = unsafe { (start.read_volatile(), end(start).read_volatile()) };
            equal("the ends of a mapping", ends, (number, !number))?;
            // SAFETY: nothing refers to it any more.
            unsafe { munmap(start.cast(), 3 * page)? };
        }
    }
    Ok(())
}
