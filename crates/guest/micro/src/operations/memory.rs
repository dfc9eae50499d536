//! Memory: mmap(2) and its relatives. What a first access costs is in [`super::fault`].

use std::ffi::c_void;
use std::ptr::null_mut;

use harness::check::{Checked, equal};
use harness::memory::{Area, READ_WRITE};
use harness::sys::{call, succeeded};
use protocol::Need;
use rustix::fs::{OFlags, ftruncate, open};
use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, mlock, mmap, mmap_anonymous, mremap, munlock,
    munmap,
};

use super::parts::{PRIVATE, gives, nothing};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("memory/mmap-munmap-4k", "mmap(2) of 4 KiB and munmap(2), never touched", |meter| {
        map_unmap(meter, PAGE)
    }),
    Operation::new("memory/mmap-munmap-1m", "mmap(2) of 1 MiB and munmap(2), never touched", |meter| {
        map_unmap(meter, MIB)
    }),
    Operation::new(
        "memory/mmap-munmap-file",
        "mmap(2) of a file of 64 KiB and munmap(2), never touched",
        map_file,
    ),
    Operation::new("memory/mmap-populate-1m", "mmap(2) MAP_POPULATE of 1 MiB", populate),
    Operation::new("memory/munmap-1m", "munmap(2) of 1 MiB in use", unmap),
    Operation::new("memory/mprotect-4k", "mprotect(2) of 4 KiB in use to read-only and back", |meter| {
        protect(meter, PAGE)
    }),
    Operation::new("memory/mprotect-1m", "mprotect(2) of 1 MiB in use to read-only and back", |meter| {
        protect(meter, MIB)
    }),
    Operation::new("memory/mremap-grow", "mremap(2) of 4 KiB to 64 KiB and back, in place", grow),
    Operation::new("memory/mremap-move-1m", "mremap(2) of 1 MiB in use to another address", move_away),
    Operation::new("memory/brk", "brk(2) 64 KiB up and down again", program_break),
    Operation::new("memory/dontneed-64k", "madvise(2) MADV_DONTNEED of 64 KiB in use", do_not_need)
        .needs(&[Need::Config("ADVISE_SYSCALLS")]),
    Operation::new("memory/mlock-munlock-64k", "mlock(2) of 64 KiB in use and munlock(2)", lock),
    Operation::new("memory/mincore-1m", "mincore(2) of 1 MiB in use", resident),
    Operation::new("memory/memfd-create-close", "memfd_create(2) and close(2)", memfd),
];

const PAGE: usize = 4 << 10;
const MIB: usize = 1 << 20;

/// Memory in use, by small pages.
fn used(size: usize) -> Result<Area, Errno> {
    let area = Area::new(size, MapFlags::PRIVATE)?.without_huge_pages()?;
    area.touch_all();
    Ok(area)
}

fn map(size: usize, flags: MapFlags) -> Result<*mut c_void, Errno> {
    // SAFETY: a new mapping at an address that the kernel chooses.
    unsafe { mmap_anonymous(null_mut(), size, READ_WRITE, flags) }
}

fn map_unmap(meter: &mut Meter, size: usize) -> Checked {
    meter.each(|| {
        let address = map(size, MapFlags::PRIVATE)?;
        // SAFETY: mapped just now, and nobody uses it.
        unsafe { munmap(address, size) }
    })?;
    let area = Area::new(size, MapFlags::PRIVATE)?;
    equal("new memory", area.get(size / PAGE - 1), 0)
}

fn map_file(meter: &mut Meter) -> Checked {
    const SIZE: usize = 64 << 10;
    let file = open(c"file", OFlags::RDWR | OFlags::CREATE, PRIVATE)?;
    ftruncate(&file, SIZE as u64)?;
    meter.each(|| {
        // SAFETY: a new mapping at an address that the kernel chooses, which nobody uses.
        unsafe { munmap(mmap(null_mut(), SIZE, ProtFlags::READ, MapFlags::SHARED, &file, 0)?, SIZE) }
    })?;
    equal("what a hole holds", Area::of(&file, ProtFlags::READ, MapFlags::SHARED)?.get(3), 0)
}

/// How many of its pages are in memory.
fn pages_in_use(area: Area) -> Checked<usize> {
    let mut pages = vec![0_u8; area.length / PAGE];
    // SAFETY: one byte for each page of the area.
    succeeded(unsafe { libc::mincore(area.start.cast(), area.length, pages.as_mut_ptr()) })?;
    Ok(pages.iter().filter(|&page| page & 1 == 1).count())
}

fn populate(meter: &mut Meter) -> Checked {
    meter.around(
        nothing,
        |()| map(MIB, MapFlags::PRIVATE | MapFlags::POPULATE),
        |(), start| {
            let area = Area { start: start.cast(), length: MIB };
            equal("pages in use", pages_in_use(area)?, MIB / PAGE)?;
            Ok(area.unmap()?)
        },
    )
}

fn unmap(meter: &mut Meter) -> Checked {
    let gone = |area: Area| {
        let bytes = area.start.cast();
        let mut page = 0;
        // SAFETY: the kernel refuses what is not mapped.
        harness::check::fails(
            "what is there",
            succeeded(unsafe { libc::mincore(bytes, PAGE, &raw mut page) }),
            Errno::NOMEM,
        )
    };
    meter.around(|| Ok(used(MIB)?), |area| area.unmap(), |area, ()| gone(area))
}

fn protect(meter: &mut Meter, size: usize) -> Checked {
    let area = used(size)?;
    meter.each(|| {
        area.protect(MprotectFlags::READ)?;
        area.protect(MprotectFlags::READ | MprotectFlags::WRITE)
    })?;
    area.set(0, 7);
    equal("what was written", area.get(0), 7)
}

fn grow(meter: &mut Meter) -> Checked {
    const SIZE: usize = 64 << 10;
    let room = map(SIZE, MapFlags::PRIVATE)?;
    // SAFETY: mapped just now, and nobody uses it: there is room to grow in place.
    unsafe { munmap(room.byte_add(PAGE), SIZE - PAGE)? };
    let resize = |from, to| {
        // SAFETY: it stays where it is, and nobody uses it.
        unsafe { mremap(room, from, to, MremapFlags::empty()) }
    };
    gives(meter, "its address", room, || {
        resize(PAGE, SIZE)?;
        resize(SIZE, PAGE)
    })
}

fn move_away(meter: &mut Meter) -> Checked {
    let mut area = used(MIB)?;
    // Large enough that there is always a hole on the one side or the other.
    let targets = [map(MIB, MapFlags::PRIVATE)?, map(MIB, MapFlags::PRIVATE)?];
    let mut turn = 0;
    meter.each(|| {
        turn ^= 1;
        let (flags, target) = (MremapFlags::MAYMOVE, targets[turn]);
        // SAFETY: the target is kept free for this, and nobody refers to the area.
        let start = unsafe { rustix::mm::mremap_fixed(area.start.cast(), MIB, MIB, flags, target)? };
        area.start = start.cast();
        Ok::<_, Errno>(())
    })?;
    equal("what is in the last page", area.get(MIB / PAGE - 1), 1)
}

fn set_break(end: usize) -> Result<usize, Errno> {
    // SAFETY: nobody has the memory above the break, and what is below stays.
    unsafe { call(libc::SYS_brk, [end]) }
}

fn program_break(meter: &mut Meter) -> Checked {
    let end = set_break(0)?;
    equal("the end 64 KiB higher", set_break(end + (64 << 10))?, end + (64 << 10))?;
    gives(meter, "the end", end, || {
        set_break(end + (64 << 10))?;
        set_break(end)
    })
}

fn do_not_need(meter: &mut Meter) -> Checked {
    let area = Area::new(64 << 10, MapFlags::PRIVATE)?.without_huge_pages()?;
    meter.around(
        || {
            area.touch_all();
            Ok(())
        },
        |()| area.advise(Advice::LinuxDontNeed),
        |(), ()| equal("pages in use", pages_in_use(area)?, 0),
    )
}

fn lock(meter: &mut Meter) -> Checked {
    let area = used(64 << 10)?;
    // SAFETY: locking changes nothing that a program sees.
    meter.each(|| unsafe {
        mlock(area.start.cast(), area.length)?;
        munlock(area.start.cast(), area.length)
    })?;
    equal("pages in use", pages_in_use(area)?, 16)
}

fn resident(meter: &mut Meter) -> Checked {
    let (area, mut pages) = (used(MIB)?, [0_u8; MIB / PAGE]);
    let arguments = [area.start.addr(), MIB, pages.as_mut_ptr().addr()];
    // SAFETY: one byte for each page of the area.
    gives(meter, "the result", 0, || unsafe { call(libc::SYS_mincore, arguments) })?;
    equal("pages in use", pages_in_use(area)?, MIB / PAGE)
}

fn memfd(meter: &mut Meter) -> Checked {
    let create = || rustix::fs::memfd_create(c"kiln", rustix::fs::MemfdFlags::CLOEXEC);
    meter.each(create)?;
    equal("its size", rustix::fs::fstat(create()?)?.st_size, 0)
}
