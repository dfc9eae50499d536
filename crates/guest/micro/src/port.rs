//! Stops the machine from inside.
//!
//! A stop that the host orders comes at a moment that the host decides. QEMU's pvpanic device stops the machine with
//! the instruction that asks for it: docs/specs/pvpanic.txt of QEMU.

use std::arch::asm;

use harness::sys;
use rustix::io::Errno;

/// The port of the device, and the event "guest panicked".
const PORT: u16 = 0x505;
const STOP: u8 = 1;

/// Allows this process to use the port.
///
/// # Errors
///
/// As ioperm(2) says.
pub(super) fn open() -> Result<(), Errno> {
    // SAFETY: allows this process one port, which nothing in it uses by accident.
    sys::succeeded(unsafe { libc::ioperm(PORT.into(), 1, 1) })
}

/// Stops the machine until its host has it go on.
pub(super) fn stop() {
    // SAFETY: `open` has been called; the device does nothing to this process.
    unsafe { asm!("out dx, al", in("dx") PORT, in("al") STOP, options(nomem, nostack, preserves_flags)) }
}
