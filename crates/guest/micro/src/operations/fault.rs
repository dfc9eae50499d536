//! Page faults: the first access to memory.

use harness::check::{Checked, equal, skip};
use harness::memory::{Area, READ_WRITE};
use harness::sys::succeeded;
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, open};
use rustix::io::{Errno, pwrite};
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::parts::{PRIVATE, resting_child};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("fault/anonymous-read", "first read of a new page: the page of zeroes", anonymous_read),
    Operation::new("fault/anonymous-write", "first write to a new page", |meter| {
        anonymous_write(meter, PAGE)
    }),
    Operation::new("fault/anonymous-write-1m", "first writes to each of 256 new pages", |meter| {
        anonymous_write(meter, 256 * PAGE)
    }),
    Operation::new("fault/shared-write", "first write to a new page of shared memory", shared_write),
    Operation::new("fault/file-read", "first read of a file in the page cache by a mapping", file_read),
    Operation::new(
        "fault/file-write",
        "first write to a file in the page cache by a shared mapping",
        file_write,
    ),
    Operation::new(
        "fault/file-copy",
        "first write to a file in the page cache by a private mapping",
        file_copy,
    ),
    Operation::new("fault/copy-after-fork", "first write to a page that a child has, too", copy_after_fork),
    Operation::new("fault/huge-write", "first write to a new huge page of 2 MiB", huge)
        .needs(&[Need::Config("TRANSPARENT_HUGEPAGE")]),
];

const PAGE: usize = 4 << 10;

fn new(size: usize, flags: MapFlags) -> Result<Area, Errno> {
    Area::new(size, flags)?.without_huge_pages()
}

fn anonymous_read(meter: &mut Meter) -> Checked {
    meter.around(
        || Ok(new(PAGE, MapFlags::PRIVATE)?),
        |area| Ok::<_, Errno>(area.get(0)),
        |area, value| {
            equal("new memory", value, 0)?;
            Ok(area.unmap()?)
        },
    )
}

fn anonymous_write(meter: &mut Meter, size: usize) -> Checked {
    meter.around(
        || Ok(new(size, MapFlags::PRIVATE)?),
        |area| {
            area.touch_all();
            Ok::<_, Errno>(())
        },
        |area, ()| written(area, 1),
    )
}

/// The last page must hold what was written; then it is unmapped.
fn written(area: Area, value: u8) -> Checked {
    equal("what was written", area.get(area.length / PAGE - 1), value)?;
    Ok(area.unmap()?)
}

fn shared_write(meter: &mut Meter) -> Checked {
    meter.around(
        || Ok(new(PAGE, MapFlags::SHARED)?),
        |area| {
            area.set(0, 7);
            Ok::<_, Errno>(())
        },
        |area, ()| written(area, 7),
    )
}

/// A file of 64 KiB.
fn file() -> Result<OwnedFd, Errno> {
    let file = open(c"file", OFlags::RDWR | OFlags::CREATE, PRIVATE)?;
    pwrite(&file, &[b'k'; 16 * PAGE], 0)?;
    Ok(file)
}

fn file_read(meter: &mut Meter) -> Checked {
    let file = file()?;
    meter.around(
        || Ok(Area::of(&file, ProtFlags::READ, MapFlags::SHARED)?),
        |area| Ok::<_, Errno>(area.get(0)),
        |area, value| {
            equal("what it holds", value, b'k')?;
            Ok(area.unmap()?)
        },
    )
}

fn file_write(meter: &mut Meter) -> Checked {
    written_by(meter, MapFlags::SHARED, b'n')
}

fn file_copy(meter: &mut Meter) -> Checked {
    written_by(meter, MapFlags::PRIVATE, b'k')
}

/// Measures a write by a mapping; afterwards the file must begin with `expected`.
fn written_by(meter: &mut Meter, flags: MapFlags, expected: u8) -> Checked {
    let file = file()?;
    meter.around(
        || Ok(Area::of(&file, READ_WRITE, flags)?),
        |area| {
            area.set(0, b'n');
            Ok::<_, Errno>(())
        },
        |area, ()| {
            let mut first = [0];
            rustix::io::pread(&file, &mut first, 0)?;
            equal("what mapping and file hold", (area.get(0), first[0]), (b'n', expected))?;
            Ok(area.unmap()?)
        },
    )
}

fn copy_after_fork(meter: &mut Meter) -> Checked {
    let area = new(PAGE, MapFlags::PRIVATE)?;
    meter.around(
        || {
            area.set(0, 0);
            resting_child()
        },
        |_| {
            area.set(0, 7);
            Ok::<_, Errno>(())
        },
        |_, ()| equal("what was written", area.get(0), 7),
    )
}

fn huge(meter: &mut Meter) -> Checked {
    const HUGE: usize = 2 << 20;
    meter.around(
        || {
            let area = Area::new(2 * HUGE, MapFlags::PRIVATE)?;
            match area.advise(Advice::LinuxHugepage) {
                Err(Errno::INVAL) => return skip("the kernel has no transparent huge pages"),
                result => result?,
            }
            Ok((area, area.start.addr().next_multiple_of(HUGE) - area.start.addr()))
        },
        |(area, offset)| {
            area.set(*offset / PAGE, 7);
            Ok::<_, Errno>(())
        },
        |(area, offset), ()| {
            let (last, mut page) = (area.page((offset + HUGE) / PAGE - 1), 0);
            // SAFETY: one byte for one page of the area.
            succeeded(unsafe { libc::mincore(last.cast(), PAGE, &raw mut page) })?;
            if page & 1 == 0 {
                return skip("the kernel gave no huge page");
            }
            Ok(area.unmap()?)
        },
    )
}
