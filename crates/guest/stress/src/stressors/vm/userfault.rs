//! `userfaultfd`: page faults that a process resolves.

use std::sync::atomic::{AtomicU64, Ordering};

use harness::check::{Checked, Stop, equal};
use harness::sys::ioctl;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read};
use rustix::mm::UserfaultfdFlags;
use rustix::param::page_size;

use crate::Worker;
use crate::kit::memory::Memory;
use crate::kit::support::supported;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const PAGES: Setting = number("pages", "pages of the mapping", 2..=65536, 64);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "userfaultfd",
    classes: &[Class::Vm, Class::Os],
    about: "missing pages that another thread provides: UFFDIO_COPY and UFFDIO_ZEROPAGE of userfaultfd(2)",
    operation: "a mapping of which each page is provided when it is touched",
    verifies: "each fault names its page, and each page has what was provided for it",
    options: &[PAGES],
    needs: &[Need::Config("USERFAULTFD")],
    body,
    ..Stressor::PLAIN
};

// Requests of <linux/userfaultfd.h>.
const API: u32 = 0xc018_aa3f;
const REGISTER: u32 = 0xc020_aa00;
const UNREGISTER: u32 = 0x8010_aa01;
const COPY: u32 = 0xc028_aa03;
const ZEROPAGE: u32 = 0xc020_aa04;
const MODE_MISSING: u64 = 1;
const EVENT_PAGEFAULT: u8 = 0x12;

fn control<const N: usize>(fault: &OwnedFd, request: u32, mut argument: [u64; N]) -> Result<usize, Errno> {
    // SAFETY: each request gets a structure of as many words as it has.
    unsafe { ioctl(fault, request, (&raw mut argument).addr()) }
}

fn body(worker: &Worker) -> Checked {
    // SAFETY: only faults of mappings that are registered below are affected.
    let fault = unsafe { rustix::mm::userfaultfd(UserfaultfdFlags::CLOEXEC) };
    let fault = supported("userfaultfd(2)", fault)?;
    control(&fault, API, [0xaa, 0, 0])?;
    let count = worker.size(&PAGES);
    let size = count * page_size();
    worker.repeat(|| {
        let memory = Memory::private(size)?;
        memory.area().without_huge_pages()?;
        let start = memory.area().start.addr() as u64;
        control(&fault, REGISTER, [start, size as u64, MODE_MISSING, 0])?;
        let words = memory.atomics();
        let found = std::thread::scope(|scope| {
            let touching = scope.spawn(|| (0..count).map(|at| word_of(words, at)).collect::<Vec<u64>>());
            resolve(&fault, start, count)?;
            Ok::<_, Stop>(touching.join().unwrap_or_default())
        })?;
        let expected = (0..count).map(|at| if at % 2 == 0 { at as u64 + 1 } else { 0 });
        equal("the first word of each page", found, expected.collect::<Vec<u64>>())?;
        control(&fault, UNREGISTER, [start, size as u64])?;
        Ok(())
    })
}

/// The first word of page `number`.
fn word_of(words: &[AtomicU64], number: usize) -> u64 {
    words[number * page_size() / size_of::<u64>()].load(Ordering::Relaxed)
}

/// Provides each page in turn: even ones with their number plus one, odd ones with zeroes.
fn resolve(fault: &OwnedFd, start: u64, count: usize) -> Checked {
    let page = page_size() as u64;
    let mut content = vec![0_u64; page_size() / size_of::<u64>()];
    for number in 0..count as u64 {
        // `struct uffd_msg`: the event in the first byte, flags, and the address.
        let mut message = [0_u8; 32];
        equal("bytes of a message", read(fault, &mut message)?, 32)?;
        equal("the event", message[0], EVENT_PAGEFAULT)?;
        let address = u64::from_ne_bytes(std::array::from_fn(|at| message[16 + at]));
        let place = start + number * page;
        equal("the page that is missing", address / page * page, place)?;
        if number % 2 == 0 {
            content[0] = number + 1;
            control(fault, COPY, [place, content.as_ptr().addr() as u64, page, 0, 0])?;
        } else {
            control(fault, ZEROPAGE, [place, page, 0, 0])?;
        }
    }
    Ok(())
}
