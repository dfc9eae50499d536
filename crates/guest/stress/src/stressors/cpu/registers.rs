//! `rdrand`, `tsc`: what the processor itself provides.

use std::arch::x86_64::{__cpuid, _rdtsc};

use harness::check::{Checked, at_least, holds, skip};

use crate::Worker;
use crate::stressor::{Class, Stressor};

pub(super) const RDRAND: Stressor = Stressor {
    name: "rdrand",
    classes: &[Class::Cpu],
    about: "random numbers of the processor: RDRAND",
    operation: "64 numbers of 64 bits",
    verifies: "no number comes twice in a row, and no bit is always the same",
    body: rdrand,
    ..Stressor::PLAIN
};

pub(super) const TSC: Stressor = Stressor {
    name: "tsc",
    classes: &[Class::Cpu],
    about: "the time-stamp counter: RDTSC",
    operation: "256 readings",
    verifies: "the counter does not go back, also when the worker moves to another CPU",
    body: tsc,
    ..Stressor::PLAIN
};

const NUMBERS: usize = 64;

/// Bit 30 of ECX in leaf 1 of CPUID.
fn has_rdrand() -> bool {
    __cpuid(1).ecx >> 30 & 1 == 1
}

fn rdrand(worker: &Worker) -> Checked {
    if !has_rdrand() {
        return skip("this processor has no RDRAND");
    }
    worker.repeat(|| {
        let (mut last, mut ones, mut zeroes) = (None, 0, 0);
        for _ in 0..NUMBERS {
            let number = random_number();
            holds("a number within ten attempts", number.is_some())?;
            holds("another number than before", number != last)?;
            let bits = number.unwrap_or_default();
            (ones, zeroes, last) = (ones | bits, zeroes | !bits, number);
        }
        // Each bit is the same in all numbers once in 2^63 times.
        holds("each bit was 0 and 1", ones & zeroes == u64::MAX)
    })
}

/// The processor may have none at the moment.
fn random_number() -> Option<u64> {
    (0..10).find_map(|_| {
        let (number, is_valid): (u64, u8);
        // SAFETY: the processor has the instruction, which only writes to its registers.
        unsafe {
            std::arch::asm!("rdrand {}", "setc {}", out(reg) number, out(reg_byte) is_valid, options(nomem, nostack));
        }
        (is_valid == 1).then_some(number)
    })
}

fn tsc(worker: &Worker) -> Checked {
    // SAFETY: every x86-64 processor has the counter.
    let read = || unsafe { _rdtsc() };
    let mut last = read();
    worker.repeat(|| {
        for _ in 0..256 {
            let now = read();
            at_least("the counter", now, last)?;
            last = now;
        }
        Ok(())
    })
}
