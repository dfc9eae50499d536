//! Mappings of files and addresses: mmap(2), mremap(2), msync(2).

use std::fs::File;
use std::os::unix::fs::FileExt;

use harness::check::{Checked, equal, fails, holds};
use harness::memory::{Area, PAGES, READ_WRITE};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MremapFlags, MsyncFlags, ProtFlags, mmap_anonymous, mremap, msync};
use rustix::param::page_size;
use rustix::pipe::pipe;

use super::memory::Access::Reading;
use super::memory::gives_fault;
use super::signal::{NO_SUCH_PAGE, NOT_MAPPED};
use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new(
        "mapping/shared-file",
        "mmap(2) MAP_SHARED and the file are the same; SIGBUS beyond its end",
        shared_file,
    ),
    Case::new("mapping/private-file", "mmap(2) MAP_PRIVATE leaves the file alone", private_file),
    Case::new("mapping/move", "mremap(2) grows, moves and shrinks memory and keeps its content", move_memory),
    Case::new(
        "mapping/fixed-address",
        "mmap(2) MAP_FIXED replaces and MAP_FIXED_NOREPLACE gives EEXIST",
        fixed_address,
    ),
    Case::new("mapping/refusals", "mmap(2) gives EINVAL, EACCES and ENODEV as promised", refusals),
];

/// A file of two pages that begin with `a` and `b`.
fn two_pages() -> Result<File, Errno> {
    let file = File::from(memfd_create("two pages", MemfdFlags::empty())?);
    ftruncate(&file, 2 * page_size() as u64)?;
    rustix::io::pwrite(&file, b"a", 0)?;
    rustix::io::pwrite(&file, b"b", page_size() as u64)?;
    Ok(file)
}

fn shared_file() -> Checked {
    let file = two_pages()?;
    let area = Area::of(&file, READ_WRITE, MapFlags::SHARED)?;
    equal("first bytes of the pages", [area.get(0), area.get(1)], *b"ab")?;
    file.write_all_at(b"c", 0)?;
    equal("after write(2)", area.get(0), b'c')?;
    area.set(1, b'd');
    let mut byte = [0];
    file.read_exact_at(&mut byte, page_size() as u64)?;
    equal("read(2) after writing to memory", byte, *b"d")?;
    // SAFETY: writes out the first two pages of the area.
    unsafe { msync(area.start.cast(), 2 * page_size(), MsyncFlags::SYNC)? };
    gives_fault(area, Reading, 2, NO_SUCH_PAGE)?;
    ftruncate(&file, page_size() as u64)?;
    gives_fault(area, Reading, 1, NO_SUCH_PAGE)
}

fn private_file() -> Checked {
    let file = two_pages()?;
    let area = Area::of(&file, READ_WRITE, MapFlags::PRIVATE)?;
    area.set(0, b'x');
    equal("memory", [area.get(0), area.get(1)], *b"xb")?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, 0)?;
    equal("file", byte, *b"a")?;
    area.advise(Advice::LinuxDontNeed)?;
    equal("memory after MADV_DONTNEED", area.get(0), b'a')
}

fn move_memory() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    area.touch_all();
    let half = area.length / 2;
    // SAFETY: no reference points into the area.
    let resize = |old: usize, new: usize, flags| unsafe { mremap(area.start.cast(), old, new, flags) };
    equal("address after shrinking", resize(area.length, half, MremapFlags::empty())?.cast(), area.start)?;
    gives_fault(area, Reading, PAGES / 2, NOT_MAPPED)?;
    let in_the_way = Area { start: area.page(PAGES / 2), length: half };
    map_at(in_the_way, MapFlags::FIXED_NOREPLACE)?;
    fails("growing without room", resize(half, area.length, MremapFlags::empty()), Errno::NOMEM)?;
    let moved = Area { start: resize(half, area.length, MremapFlags::MAYMOVE)?.cast(), ..area };
    holds("it moved", moved.start != area.start)?;
    equal("content after the move", [moved.get(0), moved.get(1), moved.get(2)], [1, 1, 0])?;
    gives_fault(area, Reading, 0, NOT_MAPPED)?;
    fails("mremap(2) of nothing", resize(half, area.length, MremapFlags::MAYMOVE), Errno::FAULT)
}

/// Maps private memory exactly at `area`.
fn map_at(area: Area, flags: MapFlags) -> Result<*mut u8, Errno> {
    // SAFETY: no reference points into the area, whether it is mapped or not.
    let start =
        unsafe { mmap_anonymous(area.start.cast(), area.length, READ_WRITE, flags | MapFlags::PRIVATE)? };
    Ok(start.cast())
}

fn fixed_address() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    area.touch_all();
    fails("MAP_FIXED_NOREPLACE over memory", map_at(area, MapFlags::FIXED_NOREPLACE), Errno::EXIST)?;
    equal("memory after the refusal", area.get(0), 1)?;
    let first = Area { length: page_size(), ..area };
    equal("address of MAP_FIXED", map_at(first, MapFlags::FIXED)?, area.start)?;
    equal("replaced page and its neighbour", [area.get(0), area.get(1)], [0, 1])?;
    area.unmap()?;
    equal("address of MAP_FIXED_NOREPLACE", map_at(area, MapFlags::FIXED_NOREPLACE)?, area.start)
}

fn refusals() -> Checked {
    let area = Area::anonymous(MapFlags::PRIVATE)?;
    fails("mmap(2) of no bytes", map_at(Area { length: 0, ..area }, MapFlags::empty()), Errno::INVAL)?;
    let unaligned = Area { start: area.start.wrapping_add(1), ..area };
    fails("MAP_FIXED at an unaligned address", map_at(unaligned, MapFlags::FIXED), Errno::INVAL)?;
    let file = File::create("write-only")?;
    fails("a file not open for reading", Area::of(&file, ProtFlags::READ, MapFlags::PRIVATE), Errno::ACCESS)?;
    let file = File::open("write-only")?;
    fails(
        "writing to a file open for reading",
        Area::of(&file, READ_WRITE, MapFlags::SHARED),
        Errno::ACCESS,
    )?;
    holds("a private copy of it", Area::of(&file, READ_WRITE, MapFlags::PRIVATE).is_ok())?;
    let (reader, _writer) = pipe()?;
    fails("mmap(2) of a pipe", Area::of(&reader, ProtFlags::READ, MapFlags::PRIVATE), Errno::NODEV)
}
