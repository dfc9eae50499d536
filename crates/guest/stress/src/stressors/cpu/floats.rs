//! `fp-error`: what floating point arithmetic reports about itself.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::stressor::{Class, Stressor};

pub(super) const FP_ERROR: Stressor = Stressor {
    name: "fp-error",
    classes: &[Class::Cpu],
    about: "operations that are inexact, overflow, underflow, divide by zero or make no sense: the register MXCSR",
    operation: "one operation of each kind",
    verifies: "result and flags of each operation, and none before it",
    body,
    ..Stressor::PLAIN
};

// Flags of MXCSR.
const INVALID: u32 = 1;
const DIVIDED_BY_ZERO: u32 = 1 << 2;
const OVERFLOW: u32 = 1 << 3;
const UNDERFLOW: u32 = 1 << 4;
const INEXACT: u32 = 1 << 5;
const FLAGS: u32 = INVALID | DIVIDED_BY_ZERO | OVERFLOW | UNDERFLOW | INEXACT;

/// A quotient, and the flags that the division has set.
fn divide(a: f64, b: f64) -> (f64, u32) {
    let (mut quotient, mut control) = (a, 0_u32);
    // SAFETY: only flags are cleared, which nobody relies on; registers are as they are named.
    unsafe {
        std::arch::asm!(
            "stmxcsr [{control}]",
            "and dword ptr [{control}], {clear}",
            "ldmxcsr [{control}]",
            "divsd {quotient}, {b}",
            "stmxcsr [{control}]",
            control = in(reg) &raw mut control,
            clear = const !FLAGS.cast_signed(),
            quotient = inout(xmm_reg) quotient,
            b = in(xmm_reg) b,
        );
    }
    (quotient, control & FLAGS)
}

fn body(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let flags = |a: f64, b: f64| divide(black_box(a), black_box(b));
        equal("an exact quotient", flags(6.0, 2.0), (3.0, 0))?;
        equal("an inexact quotient", flags(1.0, 3.0), (1.0 / 3.0, INEXACT))?;
        equal("a division by zero", flags(-1.0, 0.0), (f64::NEG_INFINITY, DIVIDED_BY_ZERO))?;
        equal("an overflow", flags(f64::MAX, 0.5), (f64::INFINITY, OVERFLOW | INEXACT))?;
        equal("an underflow", flags(f64::MIN_POSITIVE, f64::MAX), (0.0, UNDERFLOW | INEXACT))?;
        let (none, set) = flags(0.0, 0.0);
        holds("zero by zero is no number", none.is_nan())?;
        equal("its flags", set, INVALID)
    })
}
