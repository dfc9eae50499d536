//! `mmap`: mappings made, used page by page, and taken apart.

use harness::check::{Checked, equal};
use harness::memory::READ_WRITE;
use rustix::mm::{MapFlags, MprotectFlags, mprotect, munmap};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::memory::{Memory, pages};
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, choice, flag, size};
use harness::random::Random;

const BYTES: Setting = size("bytes", "what is mapped", 16384..=16 << 30, 16 << 20);
const METHOD: Setting =
    choice("method", "what is mapped", &["all", "private", "shared", "file", "file-private"]);
const POPULATE: Setting = flag("populate", "map with MAP_POPULATE");

pub(super) const STRESSOR: Stressor = Stressor {
    name: "mmap",
    classes: &[Class::Vm, Class::Os],
    about: "mmap(2), mprotect(2) and munmap(2) of anonymous memory and of a file, page by page in random order",
    operation: "a mapping filled, verified and unmapped",
    verifies: "each page keeps its content while its neighbours are protected and unmapped",
    options: &[BYTES, METHOD, POPULATE],
    body,
    ..Stressor::PLAIN
};

/// Anonymous memory or a file, and its flags.
const METHODS: &[(&str, (bool, MapFlags))] = &[
    ("private", (false, MapFlags::PRIVATE)),
    ("shared", (false, MapFlags::SHARED)),
    ("file", (true, MapFlags::SHARED)),
    ("file-private", (true, MapFlags::PRIVATE)),
];

fn body(worker: &Worker) -> Checked {
    let size = pages(worker.size(&BYTES)) * page_size();
    let backing = file::create("mapped")?;
    backing.set_len(size as u64)?;
    let populate = if worker.is_on(&POPULATE) { MapFlags::POPULATE } else { MapFlags::empty() };
    let methods = worker.methods(&METHOD, METHODS);
    let (mut next, mut random) = (methods.iter().cycle(), worker.random());
    worker.repeat(|| {
        let Some((_, (is_file, flags))) = next.next() else { return Ok(()) };
        let mut memory = if *is_file {
            Memory::with(&backing, size, READ_WRITE, *flags | populate)?
        } else {
            Memory::anonymous(size, *flags | populate)?
        };
        use_pages(worker, &mut memory, &mut random)
    })
}

/// Fills all pages, then protects, verifies and unmaps them in random order, as long as there is time.
fn use_pages(worker: &Worker, memory: &mut Memory, random: &mut Random) -> Checked {
    let (seed, page) = (random.next_u64(), page_size());
    for (bytes, number) in memory.chunks_mut(page).zip(0..) {
        if worker.is_over() {
            return Ok(());
        }
        content::fill(bytes, seed, number * page as u64);
    }
    let mut order: Vec<usize> = (0..memory.len() / page).collect();
    random.shuffle(&mut order);
    for number in order {
        if worker.is_over() {
            break;
        }
        let start = memory.area().page(number);
        // SAFETY: a page of the mapping, to which no reference points while it is protected.
        unsafe { mprotect(start.cast(), page, MprotectFlags::READ)? };
        content::verify("a page", &memory[number * page..][..page], seed, (number * page) as u64)?;
        // SAFETY: as above; it is not used any more.
        unsafe { munmap(start.cast(), page)? };
        // SAFETY: msync(2) only looks whether there is a mapping.
        let gone = unsafe { rustix::mm::msync(start.cast(), page, rustix::mm::MsyncFlags::ASYNC) };
        equal("msync(2) of an unmapped page", gone, Err(rustix::io::Errno::NOMEM))?;
    }
    Ok(())
}
