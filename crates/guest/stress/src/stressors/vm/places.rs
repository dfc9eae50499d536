//! `mmap-addr`, `mmap-fixed`: mappings at addresses that are chosen.

use harness::check::{Checked, equal, holds};
use harness::memory::READ_WRITE;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MremapFlags, mmap_anonymous, mremap_fixed, munmap};
use rustix::param::page_size;

use crate::Worker;
use crate::stressor::{Class, Stressor};
use harness::random::Random;

pub(super) const MMAP_ADDR: Stressor = Stressor {
    name: "mmap-addr",
    classes: &[Class::Vm, Class::Os],
    about: "pages at random unused addresses of 32 and of 47 bits: mmap(2) with MAP_FIXED_NOREPLACE",
    operation: "a page mapped where it was asked for, with its neighbour, and unmapped",
    verifies: "the address, the content, that the place cannot be taken twice and is free afterwards",
    body: addresses,
    ..Stressor::PLAIN
};

pub(super) const MMAP_FIXED: Stressor = Stressor {
    name: "mmap-fixed",
    classes: &[Class::Vm, Class::Os],
    about: "one to eight pages at fixed addresses from the top of the address space down, moved by mremap(2)",
    operation: "pages mapped at one address, moved to another, and unmapped",
    verifies: "both addresses, and the content before and after the move",
    body: fixed,
    ..Stressor::PLAIN
};

/// Below this the kernel may not let anybody map: `vm.mmap_min_addr`.
const LOWEST: usize = 128 << 10;

/// User space of x86-64 ends here without its last page.
const TOP: usize = (1 << 47) - 4096;

/// A place below an address, on a page.
fn place_below(random: &mut Random, limit: usize) -> usize {
    (LOWEST + random.below(limit - LOWEST)) / page_size() * page_size()
}

/// Maps pages at `address` only if nothing is there.
fn map_at(address: usize, size: usize) -> Result<usize, Errno> {
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: with these flags no mapping is replaced.
    let got = unsafe { mmap_anonymous(std::ptr::without_provenance_mut(address), size, READ_WRITE, flags)? };
    Ok(got.expose_provenance())
}

fn unmap(address: usize, size: usize) -> Result<(), Errno> {
    // SAFETY: mapped by `map_at` or moved there, and not used any more.
    unsafe { munmap(std::ptr::without_provenance_mut(address), size) }
}

fn word(address: usize) -> *mut u64 {
    std::ptr::with_exposed_provenance_mut(address)
}

fn addresses(worker: &Worker) -> Checked {
    let (mut random, page) = (worker.random(), page_size());
    worker.repeat(|| {
        let limit = if random.below(2) == 0 { 1 << 32 } else { TOP - 2 * page };
        let address = place_below(&mut random, limit);
        match map_at(address, page) {
            // Something is there already, or it is above what this machine has.
            Err(Errno::EXIST | Errno::NOMEM | Errno::PERM) => return Ok(()),
            got => equal("the address", got?, address)?,
        }
        // SAFETY: mapped just now.
        let content = unsafe {
            word(address).write_volatile(address as u64);
            word(address).read_volatile()
        };
        equal("what was written", content, address as u64)?;
        equal("mapping the same page again", map_at(address, page), Err(Errno::EXIST))?;
        if map_at(address + page, page).is_ok() {
            unmap(address + page, page)?;
        }
        unmap(address, page)?;
        equal("mapping it once it is free", map_at(address, page), Ok(address))?;
        Ok(unmap(address, page)?)
    })
}

fn fixed(worker: &Worker) -> Checked {
    let (mut random, page) = (worker.random(), page_size());
    let mut address = TOP;
    worker.repeat(|| {
        let size = (1 + random.below(8)) * page;
        // A quarter of the way down each time, over all magnitudes.
        address = (address - address / 4) / page * page;
        if address < LOWEST {
            address = TOP - 16 * page;
        }
        match map_at(address, size) {
            Err(Errno::EXIST | Errno::NOMEM | Errno::PERM) => return Ok(()),
            got => equal("the address", got?, address)?,
        }
        let seed = random.next_u64();
        // SAFETY: mapped just now.
        unsafe { word(address).write_volatile(seed) };
        let target = place_below(&mut random, 1 << 46);
        if map_at(target, size).is_err() {
            return Ok(unmap(address, size)?);
        }
        move_to(address, target, size)?;
        // SAFETY: moved there just now.
        equal("what was moved", unsafe { word(target).read_volatile() }, seed)?;
        holds("the old place is free", map_at(address, size) == Ok(address))?;
        unmap(address, size)?;
        Ok(unmap(target, size)?)
    })
}

fn move_to(address: usize, target: usize, size: usize) -> Checked {
    let (from, to) = (word(address).cast(), word(target).cast());
    // SAFETY: both places belong to this function's caller, and no reference points to either.
    let moved = unsafe { mremap_fixed(from, size, size, MremapFlags::MAYMOVE, to)? };
    equal("the address after the move", moved.addr(), target)
}
