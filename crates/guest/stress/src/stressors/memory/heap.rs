//! `bigheap`: one allocation that grows.

use harness::check::{Checked, broken};

use crate::Worker;
use crate::kit::content;
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "where it begins anew", 1 << 20..=16 << 30, 64 << 20);
const GROWTH: Setting = size("growth", "by how much it grows", 4096..=64 << 20, 64 << 10);

pub(super) const BIGHEAP: Stressor = Stressor {
    name: "bigheap",
    classes: &[Class::Memory, Class::Vm, Class::Os],
    about: "an allocation that grows until it has its size: realloc(3), and with it mremap(2)",
    operation: "a growth",
    verifies: "old content is there after each growth",
    options: &[BYTES, GROWTH],
    body,
    ..Stressor::PLAIN
};

fn body(worker: &Worker) -> Checked {
    let (most, growth, mut random) = (worker.size(&BYTES), worker.size(&GROWTH), worker.random());
    let mut heap: Vec<u8> = Vec::new();
    let mut seed = random.next_u64();
    worker.repeat(|| {
        if heap.len() + growth > most {
            (heap, seed) = (Vec::new(), random.next_u64());
        }
        let before = heap.len();
        if heap.try_reserve_exact(growth).is_err() {
            return broken("no more memory: RLIMIT_AS, or the limit of the cgroup");
        }
        heap.resize(before + growth, 0);
        content::fill(&mut heap[before..], seed, before as u64);
        // A place in what was there before, and what is new.
        let place = random.below(before + 1) / 8 * 8;
        let end = (place + 4096).min(heap.len());
        content::verify("the heap", &heap[place..end], seed, place as u64)?;
        content::verify("what is new", &heap[before..], seed, before as u64)
    })
}
