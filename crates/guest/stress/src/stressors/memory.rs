//! Stressors that read and write memory.

mod addresses;
mod atomics;
mod heap;
mod malloc;
mod rate;
mod stream;
mod thrash;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    addresses::STRESSOR,
    atomics::STRESSOR,
    heap::BIGHEAP,
    malloc::STRESSOR,
    rate::STRESSOR,
    stream::STRESSOR,
    thrash::STRESSOR,
];
