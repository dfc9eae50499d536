//! `vecmath`: arithmetic with vectors, as the compiler makes it of arrays.

use std::hint::black_box;

use harness::check::{Checked, equal};

use crate::Worker;
use crate::stressor::{Class, Stressor};
use harness::random::Random;

pub(super) const STRESSOR: Stressor = Stressor {
    name: "vecmath",
    classes: &[Class::Cpu],
    about: "integer arithmetic with vectors of 128 elements of 8 to 64 bits",
    operation: "a chain of eight vector operations for each width",
    verifies: "each element is what scalar arithmetic gives",
    body,
    ..Stressor::PLAIN
};

const ELEMENTS: usize = 128;

/// A chain of operations on whole vectors, and the same one element after the other.
macro_rules! width {
    ($type:ty) => {
        |random: &mut Random| {
            let mut vector = || -> [$type; ELEMENTS] { std::array::from_fn(|_| random.next_u64() as $type) };
            let (a, b) = (vector(), vector());
            let chain = |a: $type, b: $type| {
                let sum = a.wrapping_add(b).wrapping_mul(a);
                (sum ^ b).wrapping_sub(a & !b).rotate_left(3) | (b >> 1)
            };
            let (left, right) = (black_box(a), black_box(b));
            let vectors: [$type; ELEMENTS] = std::array::from_fn(|at| chain(left[at], right[at]));
            for at in 0..ELEMENTS {
                equal("an element", vectors[at], chain(black_box(a[at]), black_box(b[at])))?;
            }
            Ok(())
        }
    };
}

const WIDTHS: [fn(&mut Random) -> Checked; 4] = [width!(u8), width!(u16), width!(u32), width!(u64)];

fn body(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| WIDTHS.iter().try_for_each(|width| width(&mut random)))
}
