//! `memcpy`: copies of memory that do and do not overlap.

use harness::check::{Checked, holds};

use crate::Worker;
use crate::kit::content;
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "what is copied", 4096..=64 << 20, 1 << 20);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "memcpy",
    classes: &[Class::CpuCache, Class::Memory],
    about: "memcpy(3) and memmove(3) of libc, at odd addresses and forwards and backwards within a buffer",
    operation: "a copy to another buffer, and moves within it by up to 63 bytes there and back",
    verifies: "the content after each move",
    options: &[BYTES],
    body,
    ..Stressor::PLAIN
};

fn body(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let from = content::of(size, random.next_u64(), 0);
    let mut to = vec![0; size + 64];
    worker.repeat(|| {
        let (start, other) = (random.below(64), random.below(64));
        let room = to.as_mut_ptr();
        // SAFETY: there is room for 63 bytes more than are copied.
        unsafe { libc::memcpy(room.add(start).cast(), from.as_ptr().cast(), size) };
        // SAFETY: as above, and these may overlap.
        unsafe { libc::memmove(room.add(other).cast(), room.add(start).cast(), size) };
        holds("moved away", to[other..other + size] == from)?;
        to[..other].fill(0);
        // SAFETY: as above.
        unsafe { libc::memmove(to.as_mut_ptr().add(start).cast(), to.as_ptr().add(other).cast(), size) };
        holds("moved back", to[start..start + size] == from)
    })
}
