//! Stressors that compute.

mod branch;
mod calls;
mod floats;
mod hashes;
mod icache;
mod matrix;
mod methods;
mod opcode;
mod ports;
mod registers;
mod vecmath;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    branch::STRESSOR,
    calls::STRESSOR,
    floats::FP_ERROR,
    hashes::CIPHER,
    hashes::HASH,
    icache::STRESSOR,
    matrix::STRESSOR,
    methods::STRESSOR,
    opcode::STRESSOR,
    ports::STRESSOR,
    registers::RDRAND,
    registers::TSC,
    vecmath::STRESSOR,
];
