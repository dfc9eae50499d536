//! `fallocate`, `fiemap`, `revio`, `seek`: where the blocks of a file are.

use std::fs::File;

use harness::check::{Checked, equal, fails, holds};
use harness::sys::ioctl;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fstat, seek};
use rustix::io::{Errno, pread, pwrite};

use crate::Worker;
use crate::kit::support::{supported, supported_unless};
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, number, size};

const BYTES: Setting = size("bytes", "size of the file", 65536..=1 << 30, 4 << 20);
const REVERSED: Setting = size("bytes", "size of the file", 65536..=16 << 20, 4 << 20);
const ALLOCATED: Setting = size("bytes", "size of the file", 262_144..=32 << 20, 4 << 20);
const EXTENTS: Setting = number("extents", "pieces of the file", 2..=512, 64);

const FILES: Stressor = Stressor { classes: &[Class::Io, Class::Filesystem, Class::Os], ..Stressor::PLAIN };

pub(super) const FALLOCATE: Stressor = Stressor {
    name: "fallocate",
    about: "space allocated, kept, punched, zeroed, collapsed and inserted: fallocate(2)",
    operation: "a file that goes through all modes that its file system has",
    verifies: "size and content after each mode",
    options: &[ALLOCATED],
    body: allocate,
    ..FILES
};

pub(super) const FIEMAP: Stressor = Stressor {
    name: "fiemap",
    about: "extents of a file with holes: FS_IOC_FIEMAP of ioctl(2)",
    operation: "the map of a file read",
    verifies: "each written piece lies in an extent, and each hole outside of all",
    options: &[EXTENTS],
    body: map,
    ..FILES
};

pub(super) const REVIO: Stressor = Stressor {
    name: "revio",
    about: "writes at descending offsets with random holes: many extents",
    operation: "one write",
    verifies: "pieces have what was written, and holes are 0",
    options: &[REVERSED],
    body: reverse,
    ..FILES
};

pub(super) const SEEK: Stressor = Stressor {
    name: "seek",
    about: "lseek(2) from start, current place and end, to data and to holes",
    operation: "one seek in each way",
    verifies: "the offset, and what is read there",
    options: &[BYTES],
    body: seeks,
    ..FILES
};

/// A file's content in units of this size.
const UNIT: u64 = 65536;

/// The seeds of units: what each of a file's units holds, 0 for zeroes.
fn verify_units(file: &File, seeds: &[u64]) -> Checked {
    equal("the size", fstat(file)?.st_size.unsigned_abs(), seeds.len() as u64 * UNIT)?;
    for (&seed, number) in seeds.iter().zip(0..) {
        let mut bytes = vec![0; 4096];
        equal("bytes read", pread(file, &mut *bytes, number * UNIT)?, bytes.len())?;
        match seed {
            0 => equal("bytes that are not 0", content::nonzero(&bytes), 0)?,
            seed => content::verify("a unit", &bytes, seed, 0)?,
        }
    }
    Ok(())
}

fn allocate(worker: &Worker) -> Checked {
    let (mut random, count) = (worker.random(), (worker.value(&ALLOCATED) / UNIT).max(4));
    worker.repeat(|| {
        let file = file::create("allocated")?;
        supported("fallocate(2) here", fallocate(&file, FallocateFlags::empty(), 0, count * UNIT))?;
        let mut seeds = vec![0; usize::try_from(count).unwrap_or(0)];
        verify_units(&file, &seeds)?;
        for (seed, number) in seeds.iter_mut().zip(0..) {
            *seed = random.next_u64() | 1;
            equal("bytes written", pwrite(&file, &content::of(65536, *seed, 0), number * UNIT)?, 65536)?;
        }
        let at = random.below(seeds.len() - 1);
        // Each mode with what it makes of the units.
        type Change = fn(&mut Vec<u64>, usize);
        let modes: [(FallocateFlags, Change); 5] = [
            (FallocateFlags::KEEP_SIZE, |_, _| ()),
            (FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE), |seeds, at| seeds[at] = 0),
            (FallocateFlags::ZERO_RANGE, |seeds, at| seeds[at] = 0),
            (FallocateFlags::COLLAPSE_RANGE, |seeds, at| _ = seeds.remove(at)),
            (FallocateFlags::INSERT_RANGE, |seeds, at| seeds.insert(at, 0)),
        ];
        for (mode, change) in modes {
            match fallocate(&file, mode, at as u64 * UNIT, UNIT) {
                // File systems have some of them, and some only for whole clusters.
                Err(Errno::OPNOTSUPP | Errno::INVAL) => continue,
                done => done?,
            }
            change(&mut seeds, at);
            verify_units(&file, &seeds)?;
        }
        Ok(())
    })
}

/// `struct fiemap_extent` of <linux/fiemap.h>.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more: [u32; 3],
}

/// `struct fiemap` with room for extents.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; 1024],
}

/// `FS_IOC_FIEMAP`, and a flag for it: write the file back first.
const FS_IOC_FIEMAP: u32 = 0xc020_660b;
const SYNC: u32 = 1;

fn extents(file: &File) -> Result<Vec<std::ops::Range<u64>>, Errno> {
    let extents = [Extent::default(); 1024];
    let mut map =
        Map { start: 0, length: u64::MAX, flags: SYNC, mapped: 0, count: 1024, reserved: 0, extents };
    // SAFETY: the structure has room for as many extents as it says.
    unsafe { ioctl(file, FS_IOC_FIEMAP, (&raw mut map).addr())? };
    let found = map.extents.iter().take(map.mapped as usize);
    Ok(found.map(|extent| extent.logical..extent.logical + extent.length).collect())
}

fn map(worker: &Worker) -> Checked {
    let file = file::create("mapped")?;
    for number in 0..worker.value(&EXTENTS) {
        equal("bytes written", pwrite(&file, &[7; 4096], 2 * number * UNIT)?, 4096)?;
    }
    worker.repeat(|| {
        let found = supported_unless("FS_IOC_FIEMAP here", extents(&file), &[Errno::NOTTY])?;
        for number in 0..worker.value(&EXTENTS) {
            let is_mapped = |at: u64| found.iter().any(|extent| extent.contains(&at));
            holds("a written piece lies in an extent", is_mapped(2 * number * UNIT))?;
            holds("a hole lies in none", !is_mapped((2 * number + 1) * UNIT))?;
        }
        Ok(())
    })
}

/// Pieces of a file: where freed extents are discarded at once, each takes its time, and nothing can interrupt that.
const PIECES: usize = 256;

fn reverse(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.value(&REVERSED), worker.random());
    while worker.goes_on() {
        let (file, seed) = (file::create("reverse")?, random.next_u64());
        let (mut at, mut pieces) = (size, Vec::new());
        while worker.goes_on() && pieces.len() < PIECES {
            let hole = (1 + random.below(8) as u64) * 4096;
            let Some(next) = at.checked_sub(hole) else { break };
            at = next;
            file::fill(&file, seed, at, 512)?;
            pieces.push(at);
            worker.count();
        }
        for at in pieces {
            file::verify("a piece", &file, seed, at, 512)?;
            let mut behind = [0; 512];
            pread(&file, &mut behind, at + 512)?;
            equal("bytes of a hole that are not 0", content::nonzero(&behind), 0)?;
        }
    }
    Ok(())
}

fn seeks(worker: &Worker) -> Checked {
    let (file, mut random) = (file::create("seek")?, worker.random());
    let size = worker.value(&BYTES);
    // Data at the start and at the end, a hole between them.
    file::fill(&file, 1, 0, 4096)?;
    file::fill(&file, 1, size - 4096, 4096)?;
    let signed = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX);
    worker.repeat(|| {
        let at = random.below(4089) as u64;
        equal("from the start", seek(&file, SeekFrom::Start(at))?, at)?;
        let mut byte = [0];
        rustix::io::read(&file, &mut byte)?;
        equal("what is there", byte[0], content::of(4096, 1, 0)[usize::try_from(at).unwrap_or(0)])?;
        equal("from the current place", seek(&file, SeekFrom::Current(7))?, at + 8)?;
        equal("from the end", seek(&file, SeekFrom::End(-signed(at)))?, size - at)?;
        fails("before the start", seek(&file, SeekFrom::Current(-signed(size) - 1)), Errno::INVAL)?;
        // A file system without holes shows data up to the end of the file.
        let hole = seek(&file, SeekFrom::Hole(at))?;
        holds("the hole begins behind the data", hole == size || (4096..=size - 4096).contains(&hole))?;
        if hole < size {
            let data = seek(&file, SeekFrom::Data(hole))?;
            holds("the data after the hole", data > hole && data <= size - 4096)?;
        }
        fails("data behind the end", seek(&file, SeekFrom::Data(size)), Errno::NXIO)
    })
}
