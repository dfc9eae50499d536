//! `cache`: lines of the cache that are written, prefetched, flushed and read.

use std::arch::x86_64::{_MM_HINT_T0, _mm_clflush, _mm_mfence, _mm_prefetch};

use harness::check::{Checked, equal};

use crate::Worker;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, flag, size};

const BYTES: Setting = size("bytes", "what is walked through", 4096..=64 << 20, 4 << 20);
const FLUSH: Setting = flag("flush", "flush each line after it was written: CLFLUSH");
const PREFETCH: Setting = flag("prefetch", "prefetch the line after the next: PREFETCHT0");
const FENCE: Setting = flag("fence", "a fence after each write: MFENCE");

pub(super) const STRESSOR: Stressor = Stressor {
    name: "cache",
    classes: &[Class::CpuCache, Class::Memory],
    about: "writes and reads of cache lines in an order that prefetching does not foresee",
    operation: "each line written and read once",
    verifies: "each line holds what was written to it last",
    options: &[BYTES, FLUSH, PREFETCH, FENCE],
    body,
    ..Stressor::PLAIN
};

const LINE: usize = 64;

fn body(worker: &Worker) -> Checked {
    let mut memory = Memory::private(worker.size(&BYTES))?;
    let (flushes, prefetches, fences) = (worker.is_on(&FLUSH), worker.is_on(&PREFETCH), worker.is_on(&FENCE));
    let words = memory.words();
    let lines = words.len() / (LINE / size_of::<u64>());
    // A step without a common divisor with the number of lines leads to each of them.
    let step = (lines / 2 + 1..).find(|&step| gcd(step, lines) == 1).unwrap_or(1);
    let place = |line: usize| line * step % lines * (LINE / size_of::<u64>());
    let mut round = 0;
    worker.repeat(|| {
        round += 1;
        for line in 0..lines {
            let word = &raw mut words[place(line)];
            // SAFETY: inside the mapping; hints and flushes only concern the cache.
            unsafe {
                if prefetches {
                    _mm_prefetch::<_MM_HINT_T0>((&raw const words[place(line + 2)]).cast());
                }
                word.write_volatile(round ^ line as u64);
                if fences {
                    _mm_mfence();
                }
                if flushes {
                    _mm_clflush(word.cast());
                }
            }
        }
        for line in 0..lines {
            let word = &raw const words[place(line)];
            // SAFETY: inside the mapping.
            equal("a line", unsafe { word.read_volatile() }, round ^ line as u64)?;
        }
        Ok(())
    })
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
