//! Stressors of device nodes.

mod blocks;
mod memory;
mod terminals;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    blocks::KMSG,
    blocks::LOOP,
    blocks::RAWDEV,
    blocks::RTC,
    memory::DEV_SHM,
    memory::FULL,
    memory::NULL,
    memory::URANDOM,
    memory::ZERO,
    terminals::PTY,
];
