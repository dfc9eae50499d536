//! `mprotect`, `tlb-shootdown`: protections that change while several processes use the pages.

use std::sync::atomic::Ordering;

use harness::check::{Checked, at_least, equal};
use harness::child::Child;
use rustix::mm::{MprotectFlags, mprotect};
use rustix::param::page_size;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, number};

const PAGES: Setting = number("pages", "pages that are protected", 1..=65536, 64);
const SHARED: Setting = number("pages", "pages that are shared", 1..=1024, 64);
const PROCESSES: Setting = number("processes", "processes that share the memory", 1..=16, 4);

pub(super) const MPROTECT: Stressor = Stressor {
    name: "mprotect",
    classes: &[Class::Vm, Class::Os],
    about: "protections of ranges of pages that split and merge mappings: mprotect(2)",
    operation: "a range with another protection, and back",
    verifies: "a system call may write to exactly those pages that can be written to",
    options: &[PAGES],
    body: ranges,
    ..Stressor::PLAIN
};

pub(super) const TLB_SHOOTDOWN: Stressor = Stressor {
    name: "tlb-shootdown",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "shared pages whose protection changes while processes on all CPUs read them: the TLBs must be flushed",
    operation: "a round of protecting, writing and reading by all processes",
    verifies: "each process reads what was written last, and no write of any is lost",
    options: &[SHARED, PROCESSES],
    body: shootdown,
    ..Stressor::PLAIN
};

fn ranges(worker: &Worker) -> Checked {
    let (count, page, mut random) = (worker.size(&PAGES), page_size(), worker.random());
    let memory = Memory::private(count * page)?;
    let (area, zero) = (memory.area(), std::fs::File::open("/dev/zero")?);
    let writes = |number: usize| {
        // SAFETY: the kernel writes to the page or refuses; nothing refers to it.
        let into = unsafe {
            std::slice::from_raw_parts_mut(area.page(number).cast::<std::mem::MaybeUninit<u8>>(), 1)
        };
        rustix::io::read(&zero, into).map(|(filled, _)| filled.len())
    };
    let read_write = MprotectFlags::READ | MprotectFlags::WRITE;
    worker.repeat(|| {
        let start = random.below(count);
        let end = start + 1 + random.below(count - start);
        let protect = |access| {
            // SAFETY: pages of the mapping, to which no reference points.
            unsafe { mprotect(area.page(start).cast(), (end - start) * page, access) }
        };
        protect(*random.one_of(&[MprotectFlags::READ, MprotectFlags::empty()]))?;
        let probe = random.below(count);
        let is_protected = (start..end).contains(&probe);
        let expected = if is_protected { Err(rustix::io::Errno::FAULT) } else { Ok(1) };
        equal("a write of a system call", writes(probe), expected)?;
        protect(read_write)?;
        equal("a write after the protection", writes(probe), Ok(1))
    })
}

/// Runs on one CPU of those that are allowed, another for each number.
fn spread(number: usize) -> Checked {
    let allowed = sched_getaffinity(None)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    let mut own = CpuSet::new();
    own.set(cpus[number % cpus.len()]);
    Ok(sched_setaffinity(None, &own)?)
}

fn shootdown(worker: &Worker) -> Checked {
    let (pages, processes) = (worker.size(&SHARED), worker.size(&PROCESSES));
    let memory = Memory::shared((pages + 1) * page_size())?;
    worker.repeat(|| {
        memory.atomics().iter().for_each(|word| word.store(0, Ordering::Relaxed));
        let start = |number| helper(|| round(&memory, pages, number));
        let all = (0..processes).map(start).collect::<Checked<Vec<Child>>>()?;
        all.into_iter().try_for_each(Child::succeeds)?;
        for number in 0..pages {
            let word = &memory.atomics()[number * page_size() / 8];
            equal("additions to a page", word.load(Ordering::Relaxed), processes as u64)?;
        }
        Ok(())
    })
}

/// Adds to each page between two changes of its protection.
fn round(memory: &Memory, pages: usize, number: usize) -> Checked {
    spread(number)?;
    let page = page_size();
    for at in 0..pages {
        // Each process begins at another page.
        let at = (at + number * pages / 16) % pages;
        let start = memory.area().page(at).cast();
        let word = &memory.atomics()[at * page / 8];
        let before = word.load(Ordering::Relaxed);
        // SAFETY: a page of this process's mapping, which it reads meanwhile.
        unsafe { mprotect(start, page, MprotectFlags::READ)? };
        at_least("a counter", word.load(Ordering::Relaxed), before)?;
        // SAFETY: as above.
        unsafe { mprotect(start, page, MprotectFlags::READ | MprotectFlags::WRITE)? };
        word.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
