//! `branch`: jumps that no predictor foresees.

use std::hint::black_box;

use harness::check::{Checked, equal};

use crate::Worker;
use crate::stressor::{Class, Stressor};
use harness::random::mix;

pub(super) const STRESSOR: Stressor = Stressor {
    name: "branch",
    classes: &[Class::Cpu],
    about: "indirect jumps among 1024 functions in an order that cannot be predicted",
    operation: "1024 jumps",
    verifies: "the way led through the places that arithmetic foretells",
    body,
    ..Stressor::PLAIN
};

const PLACES: usize = 1024;

/// Goes on from place `N`: what was seen on the way, mixed with the place itself.
fn place<const N: usize>(trail: u64) -> u64 {
    mix(trail ^ N as u64)
}

/// Thirty-two places from `FIRST` on.
macro_rules! places {
    ($($first:literal)*) => { [$(
        place::<{ $first }>, place::<{ $first + 1 }>, place::<{ $first + 2 }>, place::<{ $first + 3 }>,
        place::<{ $first + 4 }>, place::<{ $first + 5 }>, place::<{ $first + 6 }>, place::<{ $first + 7 }>,
        place::<{ $first + 8 }>, place::<{ $first + 9 }>, place::<{ $first + 10 }>, place::<{ $first + 11 }>,
        place::<{ $first + 12 }>, place::<{ $first + 13 }>, place::<{ $first + 14 }>, place::<{ $first + 15 }>,
        place::<{ $first + 16 }>, place::<{ $first + 17 }>, place::<{ $first + 18 }>, place::<{ $first + 19 }>,
        place::<{ $first + 20 }>, place::<{ $first + 21 }>, place::<{ $first + 22 }>, place::<{ $first + 23 }>,
        place::<{ $first + 24 }>, place::<{ $first + 25 }>, place::<{ $first + 26 }>, place::<{ $first + 27 }>,
        place::<{ $first + 28 }>, place::<{ $first + 29 }>, place::<{ $first + 30 }>, place::<{ $first + 31 }>,
    )*] };
}

static PLACE: [fn(u64) -> u64; PLACES] = places!(
    0 32 64 96 128 160 192 224 256 288 320 352 384 416 448 480
    512 544 576 608 640 672 704 736 768 800 832 864 896 928 960 992
);

fn body(worker: &Worker) -> Checked {
    let mut trail = worker.random().next_u64();
    let next = |trail: u64| (trail >> 54) as usize;
    worker.repeat(|| {
        let (mut jumped, mut foretold) = (trail, trail);
        for _ in 0..PLACES {
            jumped = black_box(PLACE[next(jumped)])(jumped);
            foretold = mix(foretold ^ next(foretold) as u64);
        }
        trail = jumped;
        equal("the end of the way", jumped, foretold)
    })
}
