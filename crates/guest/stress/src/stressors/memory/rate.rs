//! `memrate`: reads and writes of one width at a given rate.

use std::arch::asm;

use harness::check::{Checked, holds};

use crate::Worker;
use crate::kit::clock::sleep;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Figure, Setting, Stressor, choice, number, size};
use harness::clock::monotonic;

const BYTES: Setting = size("bytes", "what is walked through", 4096..=4 << 30, 64 << 20);
const READ: Setting = number("rd-mbs", "limit of reads in MB/s, 0 for none", 0..=1_000_000, 0);
const WRITE: Setting = number("wr-mbs", "limit of writes in MB/s, 0 for none", 0..=1_000_000, 0);
const METHOD: Setting = choice(
    "method",
    "direction and width in bits",
    &[
        "all", "read8", "read16", "read32", "read64", "read128", "read256", "read512", "write8", "write16",
        "write32", "write64", "write128", "write256", "write512",
    ],
);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "memrate",
    classes: &[Class::Memory],
    about: "reads and writes of 8 to 512 bits, one instruction each, as fast as possible or at a given rate",
    operation: "a walk through all bytes with one width",
    verifies: "writes of each width left what they wrote, and reads changed nothing",
    options: &[BYTES, READ, WRITE, METHOD],
    rates: RATES,
    body,
    ..Stressor::PLAIN
};

/// In the order of [`METHODS`], in units of 1,000,000 bytes per second.
const RATES: &[Figure] = &[
    Figure::new("read8", "MB/s").asked_by(&READ),
    Figure::new("read16", "MB/s").asked_by(&READ),
    Figure::new("read32", "MB/s").asked_by(&READ),
    Figure::new("read64", "MB/s").asked_by(&READ),
    Figure::new("read128", "MB/s").asked_by(&READ),
    Figure::new("read256", "MB/s").asked_by(&READ),
    Figure::new("read512", "MB/s").asked_by(&READ),
    Figure::new("write8", "MB/s").asked_by(&WRITE),
    Figure::new("write16", "MB/s").asked_by(&WRITE),
    Figure::new("write32", "MB/s").asked_by(&WRITE),
    Figure::new("write64", "MB/s").asked_by(&WRITE),
    Figure::new("write128", "MB/s").asked_by(&WRITE),
    Figure::new("write256", "MB/s").asked_by(&WRITE),
    Figure::new("write512", "MB/s").asked_by(&WRITE),
];

/// Most bytes between two looks at the clock.
const CHUNK: usize = 1 << 20;

/// Longest time that a chunk may take at a given rate, in microseconds.
const CHUNK_US: u64 = 10_000;

/// What writes write: 0xa5 in each byte.
const PATTERN: u64 = u64::from_ne_bytes([0xa5; 8]);

/// A walk from an address to another; both are multiples of 4096.
type Walk = unsafe fn(*mut u8, *mut u8);

/// Eight accesses of one width in each turn: assembly, so that no compiler makes fewer and wider ones of them.
macro_rules! walk {
    ($bytes:literal, $before:literal, $after:literal, $($setup:literal),*) => {{
        /// # Safety
        ///
        /// The range is mapped, and nothing refers to it.
        unsafe fn walk(start: *mut u8, end: *mut u8) {
            // SAFETY: accesses stay in the range, a multiple of eight accesses.
            unsafe {
                asm!(
                    $($setup,)*
                    "2:",
                    concat!($before, "[{p}]", $after),
                    concat!($before, "[{p} + ", $bytes, "]", $after),
                    concat!($before, "[{p} + 2 * ", $bytes, "]", $after),
                    concat!($before, "[{p} + 3 * ", $bytes, "]", $after),
                    concat!($before, "[{p} + 4 * ", $bytes, "]", $after),
                    concat!($before, "[{p} + 5 * ", $bytes, "]", $after),
                    concat!($before, "[{p} + 6 * ", $bytes, "]", $after),
                    concat!($before, "[{p} + 7 * ", $bytes, "]", $after),
                    concat!("add {p}, 8 * ", $bytes),
                    "cmp {p}, {end}",
                    "jb 2b",
                    p = inout(reg) start => _,
                    end = in(reg) end,
                    inout("rax") PATTERN => _,
                    out("xmm0") _,
                    options(nostack),
                );
            }
        }
        walk as Walk
    }};
}

/// What a method needs of the processor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feature {
    Any,
    Avx,
    Avx512,
}

impl Feature {
    fn is_there(self) -> bool {
        match self {
            Self::Any => true,
            Self::Avx => std::arch::is_x86_feature_detected!("avx"),
            Self::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
        }
    }
}

const METHODS: &[(&str, (Walk, Feature))] = &[
    ("read8", (walk!("1", "mov al, byte ptr ", "",), Feature::Any)),
    ("read16", (walk!("2", "mov ax, word ptr ", "",), Feature::Any)),
    ("read32", (walk!("4", "mov eax, dword ptr ", "",), Feature::Any)),
    ("read64", (walk!("8", "mov rax, qword ptr ", "",), Feature::Any)),
    ("read128", (walk!("16", "movdqa xmm0, xmmword ptr ", "",), Feature::Any)),
    ("read256", (walk!("32", "vmovdqa ymm0, ymmword ptr ", "",), Feature::Avx)),
    ("read512", (walk!("64", "vmovdqa64 zmm0, zmmword ptr ", "",), Feature::Avx512)),
    ("write8", (walk!("1", "mov byte ptr ", ", al",), Feature::Any)),
    ("write16", (walk!("2", "mov word ptr ", ", ax",), Feature::Any)),
    ("write32", (walk!("4", "mov dword ptr ", ", eax",), Feature::Any)),
    ("write64", (walk!("8", "mov qword ptr ", ", rax",), Feature::Any)),
    (
        "write128",
        (
            walk!("16", "movdqa xmmword ptr ", ", xmm0", "movq xmm0, rax", "punpcklqdq xmm0, xmm0"),
            Feature::Any,
        ),
    ),
    (
        "write256",
        (
            walk!(
                "32",
                "vmovdqa ymmword ptr ",
                ", ymm0",
                "vmovq xmm0, rax",
                "vpunpcklqdq xmm0, xmm0, xmm0",
                "vinsertf128 ymm0, ymm0, xmm0, 1"
            ),
            Feature::Avx,
        ),
    ),
    (
        "write512",
        (walk!("64", "vmovdqa64 zmmword ptr ", ", zmm0", "vpbroadcastq zmm0, rax"), Feature::Avx512),
    ),
];

/// What was moved, and how long it took in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Moved {
    bytes: u64,
    time: u64,
}

fn body(worker: &Worker) -> Checked {
    let mut memory = Memory::private(crate::kit::memory::whole_pages(worker.size(&BYTES)))?;
    memory.fill(0);
    let mut moved = vec![Moved::default(); METHODS.len()];
    let chosen: Vec<&str> = worker.methods(&METHOD, METHODS).iter().map(|(name, _)| *name).collect();
    let methods = METHODS
        .iter()
        .zip(0..)
        .filter(|((name, (_, feature)), _)| chosen.contains(name) && feature.is_there());
    let mut next = methods.cycle();
    let result = worker.repeat(|| {
        let Some(((name, (walk, _)), place)) = next.next() else {
            return harness::check::skip("this processor has no registers of that width");
        };
        let writes = name.starts_with("write");
        let limit = worker.value(if writes { &WRITE } else { &READ });
        let whole = walk_at(worker, &mut memory, *walk, limit);
        (moved[place].bytes, moved[place].time) =
            (moved[place].bytes + whole.bytes, moved[place].time + whole.time);
        if !worker.is_over() {
            // The last page is enough unless everything is to be verified.
            let words = memory.words();
            let (first, expected) =
                (if worker.verifies { 0 } else { words.len() - 512 }, if writes { PATTERN } else { 0 });
            holds(
                "what was written, or left as it was",
                words[first..].iter().all(|&word| word == expected),
            )?;
            words.fill(0);
        }
        Ok(())
    });
    for (figure, moved) in RATES.iter().zip(moved).filter(|(_, moved)| moved.time > 0) {
        worker.rate(figure, moved.bytes as f64 * 1e3 / moved.time as f64);
    }
    result
}

/// Bytes between two looks at the clock at a rate in MB/s, whole pages: a megabyte per second is a byte per microsecond.
fn chunk_at(limit: u64) -> usize {
    let bytes = usize::try_from(limit * CHUNK_US).unwrap_or(CHUNK);
    if limit == 0 { CHUNK } else { (bytes / 4096 * 4096).clamp(4096, CHUNK) }
}

/// Walks through all of it in chunks, each no earlier than the limit in MB/s lets it end.
fn walk_at(worker: &Worker, memory: &mut Memory, walk: Walk, limit: u64) -> Moved {
    let begun = monotonic();
    let mut bytes = 0;
    for chunk in memory.chunks_mut(chunk_at(limit)) {
        let ends = chunk.as_mut_ptr_range();
        // SAFETY: the chunk is mapped and borrowed for nothing else.
        unsafe { walk(ends.start, ends.end) };
        bytes += chunk.len() as u64;
        let elapsed = monotonic() - begun;
        // A megabyte per second is a byte in a thousand nanoseconds.
        let due = (bytes * 1000).checked_div(limit).unwrap_or(0);
        if due > elapsed {
            sleep(due - elapsed);
        }
        if worker.is_over() {
            break;
        }
    }
    Moved { bytes, time: monotonic() - begun }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_rate_is_kept_in_small_steps() {
        assert_eq!([0, 1, 100, 1_000_000].map(chunk_at), [CHUNK, 8192, 999_424, CHUNK]);
    }
}
