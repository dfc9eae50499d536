//! `ioport`: instructions that read and write I/O ports.

use std::arch::asm;

use harness::check::{Checked, equal};
use harness::sys::succeeded;

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Setting, Stressor, choice};

const METHOD: Setting = choice("method", "the direction", &["inout", "in", "out"]);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "ioport",
    classes: &[Class::Cpu, Class::Device],
    about: "reads and writes of port 0x80, which firmware uses for codes of its progress: ioperm(2)",
    operation: "16 reads and 16 writes",
    verifies: "a process without the permission dies of SIGSEGV",
    options: &[METHOD],
    body,
    ..Stressor::PLAIN
};

const PORT: u16 = 0x80;

fn permit(is_permitted: bool) -> Result<(), rustix::io::Errno> {
    // SAFETY: one port to which nothing reacts.
    succeeded(unsafe { libc::ioperm(PORT.into(), 1, is_permitted.into()) })
}

fn input() -> u8 {
    let value;
    // SAFETY: the port is permitted, or the fault is what the caller wants.
    unsafe { asm!("in al, dx", in("dx") PORT, out("al") value, options(nomem, nostack)) };
    value
}

fn output(value: u8) {
    // SAFETY: as above; writing to this port only delays.
    unsafe { asm!("out dx, al", in("dx") PORT, in("al") value, options(nomem, nostack)) };
}

fn body(worker: &Worker) -> Checked {
    supported_unless("ioperm(2)", permit(true), &[rustix::io::Errno::INVAL])?;
    let without = helper(|| {
        permit(false)?;
        input();
        Ok(())
    })?;
    equal(
        "what ends a process without permission",
        without.wait()?.terminating_signal(),
        Some(libc::SIGSEGV),
    )?;
    let (reads, writes) = match worker.choice(&METHOD) {
        1 => (16, 0),
        2 => (0, 16),
        _ => (16, 16),
    };
    worker.repeat(|| {
        let value = (0..reads).fold(0, |_, _| input());
        (0..writes).for_each(|_| output(value));
        Ok(())
    })
}
