//! What QEMU's plugin sees of a measurement: instructions that do nothing and that no compiler makes.
//!
//! Each is a `nopl` whose displacement is a number of ours. The plugin knows these numbers.

use std::arch::asm;

use protocol::measure::{MARK_BEGIN, MARK_END, MARK_JOB_DONE};

/// A repetition begins.
#[inline(always)]
pub(super) fn begin() {
    // SAFETY: does nothing; as a barrier for the compiler it keeps the operation behind it.
    unsafe {
        asm!("nopl {mark}(%rax)", mark = const MARK_BEGIN, options(att_syntax, nostack, preserves_flags));
    }
}

/// It has ended.
#[inline(always)]
pub(super) fn end() {
    // SAFETY: as in `begin`.
    unsafe { asm!("nopl {mark}(%rax)", mark = const MARK_END, options(att_syntax, nostack, preserves_flags)) }
}

/// All repetitions of a job have been made.
#[inline(always)]
pub(super) fn job_done() {
    // SAFETY: as in `begin`.
    unsafe {
        asm!("nopl {mark}(%rax)", mark = const MARK_JOB_DONE, options(att_syntax, nostack, preserves_flags));
    }
}
