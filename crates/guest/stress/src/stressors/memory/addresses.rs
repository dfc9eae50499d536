//! `vm-addr`: memory addressed in twelve orders.

use harness::check::{Checked, equal};

use crate::Worker;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, choice, size};
use harness::random::mix;

const BYTES: Setting = size("bytes", "what is addressed", 4096..=64 << 20, 8 << 20);
const METHOD: Setting = choice(
    "method",
    "the order of the addresses",
    &[
        "all", "bitposn", "dec", "decinv", "flip", "gray", "grayinv", "inc", "incinv", "pwr2", "pwr2inv",
        "rev", "revinv",
    ],
);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "vm-addr",
    classes: &[Class::Memory, Class::Vm, Class::Os],
    about: "new memory that is written and read at addresses in twelve orders, which toggle few or all address lines",
    operation: "each word of a mapping written and verified in one order",
    verifies: "each word holds what was written to its address",
    options: &[BYTES, METHOD],
    body,
    ..Stressor::PLAIN
};

/// Where step `n` of an order leads among `1 << bits` words.
type Order = fn(n: usize, bits: u32) -> usize;

const METHODS: &[(&str, Order)] = &[
    ("bitposn", |n, bits| n ^ 1 << (n as u32 % bits.max(1))),
    ("dec", |n, _| !n),
    ("decinv", |n, _| !n ^ !0),
    ("flip", |n, _| if n.is_multiple_of(2) { n } else { !n }),
    ("gray", |n, _| n ^ (n >> 1)),
    ("grayinv", |n, _| !(n ^ (n >> 1))),
    ("inc", |n, _| n),
    ("incinv", |n, _| n ^ !0),
    ("pwr2", |n, bits| 1 << (n as u32 % bits.max(1))),
    ("pwr2inv", |n, bits| !(1 << (n as u32 % bits.max(1)))),
    ("rev", reversed),
    ("revinv", |n, bits| !reversed(n, bits)),
];

/// The lowest `bits` in reverse.
fn reversed(n: usize, bits: u32) -> usize {
    n.reverse_bits() >> (usize::BITS - bits.max(1))
}

fn body(worker: &Worker) -> Checked {
    let size = 1 << worker.size(&BYTES).max(1).ilog2();
    let methods = worker.methods(&METHOD, METHODS);
    let (mut next, mut random) = (methods.iter().cycle(), worker.random());
    worker.repeat(|| {
        let Some((name, order)) = next.next() else { return Ok(()) };
        let mut memory = Memory::private(size)?;
        let (words, seed) = (memory.words(), random.next_u64());
        let (mask, bits) = (words.len() - 1, words.len().ilog2());
        let places = || (0..words.len()).map(|n| order(n, bits) & mask);
        let mut written = vec![false; words.len()];
        let start = words.as_ptr().cast_mut();
        for place in places() {
            written[place] = true;
            // SAFETY: inside the mapping by the mask.
            unsafe { start.add(place).write_volatile(mix(seed ^ place as u64)) };
        }
        for (place, is_written) in written.into_iter().enumerate() {
            let expected = if is_written { mix(seed ^ place as u64) } else { 0 };
            // SAFETY: inside the mapping.
            equal(name, unsafe { start.add(place).read_volatile() }, expected)?;
        }
        Ok(())
    })
}
