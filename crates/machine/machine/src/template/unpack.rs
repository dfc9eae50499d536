//! Programs come into a clone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use protocol::{FromAgent, ToAgent};

use super::Template;
use super::wake::EARLY_MAX;
use crate::error::{BootFailure, BootTrouble};
use crate::vmm::{Booted, INTERRUPT_INTERVAL, Vmm};
use crate::{Event, Machine};

impl Template {
    /// Has the agent of a clone make the files that its case needs; nothing happens where they are in the initramfs.
    ///
    /// # Errors
    ///
    /// When they cannot be made, the machine does not survive it, or `interrupt` is set.
    pub fn unpack(&self, clone: &mut Booted, interrupt: &AtomicBool) -> Result<(), BootFailure> {
        if self.body.window.as_ref().is_none_or(|window| window.is_empty()) {
            return Ok(());
        }
        let start = Instant::now();
        let machine = &mut clone.machine;
        machine.tell(&ToAgent::Unpack);
        let mut early = Vec::new();
        while !interrupt.load(Ordering::Relaxed) {
            match machine.next(Instant::now() + INTERRUPT_INTERVAL) {
                Event::Agent(FromAgent::Unpacked { trouble: None }) => {
                    machine.put_back(early);
                    return Ok(());
                }
                Event::Agent(FromAgent::Unpacked { trouble: Some(why) }) => {
                    return Err(failed(machine, &why));
                }
                Event::Ended(death) => {
                    return Err(machine.failure(BootTrouble::of(death, self.body.spec.engine.port_option())));
                }
                Event::Quiet if self.is_late(machine, start) => {
                    return Err(failed(machine, "it does not end"));
                }
                Event::Quiet => {}
                event if early.len() < EARLY_MAX => early.push(event),
                _ => {}
            }
        }
        Err(machine.failure(BootTrouble::Interrupted))
    }
}

fn failed(machine: &Vmm, why: &str) -> BootFailure {
    machine.failure(BootTrouble::Machine(format!("programs could not be copied into the machine: {why}")))
}
