//! `mremap`, `remap`: mappings that move, grow and shrink; pages in another order.

use harness::check::{Checked, equal};
use harness::memory::READ_WRITE;
use harness::sys::call;
use rustix::mm::{MapFlags, MremapFlags, mmap_anonymous, mremap, munmap};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::memory::{Memory, pages};
use crate::kit::support::supported;
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, number, size};

const BYTES: Setting = size("bytes", "largest mapping", 65536..=64 << 20, 16 << 20);
const PAGES: Setting = number("pages", "pages of the file", 2..=4096, 256);

pub(super) const MREMAP: Stressor = Stressor {
    name: "mremap",
    classes: &[Class::Vm, Class::Os],
    about: "mremap(2) that halves a mapping down to a page and doubles it up again",
    operation: "a mapping all the way down and up",
    verifies: "the content that is kept, and zeroes where the mapping grew",
    options: &[BYTES],
    body: resize,
    ..Stressor::PLAIN
};

pub(super) const REMAP: Stressor = Stressor {
    name: "remap",
    classes: &[Class::Vm, Class::Os],
    about: "pages of a file in random order: remap_file_pages(2)",
    operation: "all pages remapped in a new order",
    verifies: "each place shows the page of the file that was put there",
    options: &[PAGES],
    body: reorder,
    ..Stressor::PLAIN
};

fn resize(worker: &Worker) -> Checked {
    let largest = 1_usize << (pages(worker.size(&BYTES)) * page_size()).ilog2();
    let mut random = worker.random();
    worker.repeat(|| {
        let (seed, mut size) = (random.next_u64(), largest);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let mut start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), size, READ_WRITE, MapFlags::PRIVATE)?.cast::<u8>()
        };
        // SAFETY: mapped just now, and given up before it is resized.
        content::fill(unsafe { std::slice::from_raw_parts_mut(start, size) }, seed, 0);
        let steps = largest.ilog2() - page_size().ilog2();
        for step in 0..2 * steps {
            let new_size = if step < steps { size / 2 } else { size * 2 };
            // SAFETY: the mapping is used only through what is returned.
            start = unsafe { mremap(start.cast(), size, new_size, MremapFlags::MAYMOVE)?.cast() };
            // SAFETY: mapped with this size now.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, new_size) };
            let (kept, grown) = bytes.split_at_mut(size.min(new_size));
            content::verify("what is kept", kept, seed, 0)?;
            equal("bytes of what grew that are not 0", content::nonzero(grown), 0)?;
            content::fill(grown, seed, kept.len() as u64);
            size = new_size;
        }
        // SAFETY: not used any more.
        unsafe { munmap(start.cast(), size)? };
        Ok(())
    })
}

fn reorder(worker: &Worker) -> Checked {
    let (count, page, mut random) = (worker.size(&PAGES), page_size(), worker.random());
    let file = file::create("remapped")?;
    let seed = random.next_u64();
    for number in 0..count {
        file::fill(&file, seed, (number * page) as u64, page)?;
    }
    let memory = Memory::of(&file, count * page)?;
    let mut order: Vec<usize> = (0..count).collect();
    worker.repeat(|| {
        random.shuffle(&mut order);
        for (place, &number) in order.iter().enumerate() {
            let start = memory.area().page(place).addr();
            // SAFETY: a page of the mapping, to which no reference points.
            let done = unsafe { call(libc::SYS_remap_file_pages, [start, page, 0, number, 0]) };
            supported("remap_file_pages(2)", done)?;
        }
        for (place, &number) in order.iter().enumerate() {
            content::verify("a page", &memory[place * page..][..64], seed, (number * page) as u64)?;
        }
        Ok(())
    })
}
