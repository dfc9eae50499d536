//! Programs come into a clone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use protocol::{FromAgent, ToAgent};

use super::Template;
use super::wake::EARLY_MAX;
use crate::error::{BootFailure, BootTrouble};
use crate::payload::Wanted;
use crate::vmm::{Booted, INTERRUPT_INTERVAL, Vmm};
use crate::{Event, Machine};

impl Template {
    /// Has the agent of a clone make the files that are `wanted`, or all; nothing happens where there are none, or they
    /// are in the initramfs.
    ///
    /// # Errors
    ///
    /// When they cannot be made, the machine does not survive it, or `interrupt` is set.
    pub fn unpack(
        &self,
        clone: &mut Booted,
        wanted: Option<&Wanted>,
        interrupt: &AtomicBool,
    ) -> Result<(), BootFailure> {
        let ranges = self.body.window.as_ref().map(|window| window.ranges(wanted)).unwrap_or_default();
        if ranges.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let machine = &mut clone.machine;
        machine.send(&ToAgent::Unpack { ranges });
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
