//! Memory: mmap(2) and its relatives.

use harness::check::{Checked, at_least, equal, fails};
use harness::child::{child, unprivileged};
use harness::memory::{Area, PAGES};
use harness::sys::{self, succeeded};
use harness::waiting::until;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::mm::{Advice, MapFlags, MprotectFlags, mlock, munlock};
use rustix::param::page_size;
use rustix::pipe::pipe;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::signal::{FaultKind, NOT_ALLOWED, NOT_MAPPED, faults};
use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new("memory/zeroes", "mmap(2) MAP_ANONYMOUS gives zeroes, and so does MADV_DONTNEED", zeroes)
        .needs(&[Need::Config("ADVISE_SYSCALLS")]),
    Case::new("memory/protection", "mprotect(2) decides whether an access gives SIGSEGV", protection),
    Case::new(
        "memory/bad-address",
        "read(2) and write(2) give EFAULT where the process may not go",
        bad_address,
    ),
    Case::new(
        "memory/copy-on-write",
        "fork(2) shares MAP_SHARED pages and copies private ones on write",
        copy_on_write,
    ),
    Case::new(
        "memory/fork-advice",
        "madvise(2) MADV_WIPEONFORK and MADV_DONTFORK hide pages from a child",
        fork_advice,
    )
    .needs(&[Need::Config("ADVISE_SYSCALLS")]),
    Case::new("memory/resident", "mincore(2) sees pages come with a write and with mlock(2)", resident)
        .needs(&[Need::Config("ADVISE_SYSCALLS")]),
    Case::new(
        "memory/lock-limit",
        "mlock(2) gives ENOMEM above RLIMIT_MEMLOCK and EPERM at a limit of 0",
        lock_limit,
    ),
    Case::new(
        "memory/page-faults",
        "getrusage(2) counts at least one fault for each page touched first",
        page_faults,
    )
    .needs(&[Need::Config("ADVISE_SYSCALLS")]),
    Case::new("memory/break", "brk(2) moves the end of the heap and gives zeroes", program_break),
];

#[derive(Debug, Clone, Copy)]
pub(super) enum Access {
    Reading,
    Writing,
}
use Access::{Reading, Writing};

/// The first byte of page `number` of an area must give a fault of this kind.
#[track_caller]
pub(super) fn gives_fault(area: Area, access: Access, number: usize, kind: FaultKind) -> Checked {
    let what = format!("{access:?} page {number}");
    let address = area.page(number) as usize;
    match access {
        Access::Reading => faults(&what, || _ = area.get(number), kind, address),
        Access::Writing => faults(&what, || area.set(number, 1), kind, address),
    }
}

fn zeroes() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    for _ in 0..2 {
        equal("new memory", [area.get(0), area.get(PAGES - 1)], [0, 0])?;
        area.touch_all();
        equal("written memory", [area.get(0), area.get(PAGES - 1)], [1, 1])?;
        area.advise(Advice::LinuxDontNeed)?;
    }
    Ok(())
}

fn protection() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    area.touch_all();
    area.protect(MprotectFlags::READ)?;
    equal("reading read-only memory", area.get(1), 1)?;
    gives_fault(area, Writing, 1, NOT_ALLOWED)?;
    area.protect(MprotectFlags::empty())?;
    gives_fault(area, Reading, 1, NOT_ALLOWED)?;
    area.protect(MprotectFlags::READ | MprotectFlags::WRITE)?;
    equal("what was there before", area.get(1), 1)?;
    let unaligned = Area { start: area.start.wrapping_add(1), ..area };
    fails("mprotect(2) of an unaligned address", unaligned.protect(MprotectFlags::READ), Errno::INVAL)?;
    area.unmap()?;
    gives_fault(area, Reading, 1, NOT_MAPPED)?;
    fails("mprotect(2) of nothing", area.protect(MprotectFlags::READ), Errno::NOMEM)
}

fn bad_address() -> Checked {
    let (reader, writer) = pipe()?;
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    let transfer = |call, fd: &OwnedFd| {
        let arguments = [fd.as_raw_fd() as usize, area.start as usize, 1];
        // SAFETY: one byte of the area, which the kernel refuses where the process may not go.
        unsafe { sys::call(call, arguments) }
    };
    area.protect(MprotectFlags::READ)?;
    equal("bytes written from read-only memory", transfer(libc::SYS_write, &writer)?, 1)?;
    fails("read(2) into read-only memory", transfer(libc::SYS_read, &reader), Errno::FAULT)?;
    area.protect(MprotectFlags::READ | MprotectFlags::WRITE)?;
    equal("bytes read, which EFAULT has left in the pipe", transfer(libc::SYS_read, &reader)?, 1)?;
    area.unmap()?;
    fails("write(2) from unmapped memory", transfer(libc::SYS_write, &writer), Errno::FAULT)
}

fn copy_on_write() -> Checked {
    let private = Area::anonymous(MapFlags::PRIVATE)?;
    let shared = Area::anonymous(MapFlags::SHARED)?;
    private.touch_all();
    shared.touch_all();
    let (reader, writer) = pipe()?;
    let child = child(|| {
        private.set(0, 2);
        shared.set(0, 2);
        read(&reader, &mut [0])?;
        equal("private memory after the parent's write", [private.get(0), private.get(1)], [2, 1])?;
        equal("shared memory after the parent's write", [shared.get(0), shared.get(1)], [2, 3])
    })?;
    until(|| Ok(shared.get(0) == 2))?;
    equal("private memory after the child's write", private.get(0), 1)?;
    private.set(1, 3);
    shared.set(1, 3);
    rustix::io::write(&writer, b"x")?;
    child.succeeds()
}

fn fork_advice() -> Checked {
    let (wiped, hidden) = (Area::anonymous(MapFlags::PRIVATE)?, Area::anonymous(MapFlags::PRIVATE)?);
    wiped.touch_all();
    hidden.touch_all();
    wiped.advise(Advice::LinuxWipeOnFork)?;
    hidden.advise(Advice::LinuxDontFork)?;
    child(|| equal("wiped memory in the child", wiped.get(0), 0))?.succeeds()?;
    equal("wiped memory in the parent", wiped.get(0), 1)?;
    gives_fault(hidden, Reading, 0, NOT_MAPPED)?;
    equal("hidden memory in the parent", hidden.get(0), 1)?;
    let shared = Area::anonymous(MapFlags::SHARED)?;
    fails("MADV_WIPEONFORK of shared memory", shared.advise(Advice::LinuxWipeOnFork), Errno::INVAL)
}

fn resident() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?.without_huge_pages()?;
    equal("pages of new memory", area.resident()?, [false; PAGES])?;
    area.set(1, 1);
    equal("pages after a write", area.resident()?, [false, true, false, false])?;
    // SAFETY: the area is mapped.
    unsafe { mlock(area.start.cast(), area.length)? };
    equal("pages after mlock(2)", area.resident()?, [true; PAGES])?;
    fails("MADV_DONTNEED of locked pages", area.advise(Advice::LinuxDontNeed), Errno::INVAL)?;
    // SAFETY: the area is mapped.
    unsafe { munlock(area.start.cast(), area.length)? };
    area.advise(Advice::LinuxDontNeed)?;
    equal("pages after MADV_DONTNEED", area.resident()?, [false; PAGES])?;
    area.unmap()?;
    fails("mincore(2) of nothing", area.resident(), Errno::NOMEM)
}

fn lock_limit() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    // SAFETY: the area is mapped.
    let lock = |pages: usize| unsafe { mlock(area.start.cast(), pages * page_size()) };
    let limit = |bytes| setrlimit(Resource::Memlock, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    unprivileged(|| {
        limit(2 * page_size() as u64)?;
        equal("mlock(2) up to the limit", lock(2), Ok(()))?;
        fails("mlock(2) above the limit", lock(3), Errno::NOMEM)?;
        limit(0)?;
        fails("mlock(2) at a limit of 0", lock(1), Errno::PERM)
    })?
    .succeeds()
}

fn page_faults() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?.without_huge_pages()?;
    let before = faults_so_far()?;
    area.touch_all();
    at_least("minor faults of the first touch", faults_so_far()? - before, PAGES)
}

/// Page faults of this process that needed no I/O.
fn faults_so_far() -> Result<usize, Errno> {
    // SAFETY: all zeroes is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel fills it.
    succeeded(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) })?;
    Ok(usize::try_from(usage.ru_minflt).unwrap_or_default())
}

fn program_break() -> Checked {
    // SAFETY: the case's own process allocates nothing between growing and shrinking.
    let brk = |end: usize| unsafe { sys::call(libc::SYS_brk, [end]) };
    let old = brk(0)?;
    let area =
        Area { start: std::ptr::with_exposed_provenance_mut(old.next_multiple_of(page_size())), length: 0 };
    let new = area.page(PAGES) as usize;
    let grown = brk(new)?;
    let content = [area.get(0), area.get(PAGES - 1)];
    area.set(0, 1);
    let shrunk = brk(old)?;
    equal("break after growing", grown, new)?;
    equal("new heap", content, [0, 0])?;
    equal("break after shrinking", shrunk, old)?;
    gives_fault(area, Reading, 1, NOT_MAPPED)?;
    equal("break after an impossible request", brk(1)?, old)
}
