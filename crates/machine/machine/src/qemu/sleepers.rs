//! Who sleeps for a lock in a machine that runs, and for which, once it is held.

use std::collections::HashSet;
use std::time::Duration;

use introspect::{Kernel, Registers, Sleeper, Sleepers, Task};

use super::monitor::Monitor;
use super::processors::{Processor, processors};
use super::tasks::{Memory, Places};
use crate::hazards::Wait;

/// What is known of a machine in which they are looked for.
#[derive(Debug)]
pub(super) struct Found {
    sleepers: Sleepers,
    places: Places,
}

impl Found {
    /// Finds what has to be known of the kernel of a machine.
    pub(super) fn new(monitor: &mut Monitor, process: u32) -> Result<Self, String> {
        let processors = processors(monitor).ok_or("QEMU does not show the registers")?;
        let tables = processors.first().map(Processor::tables).ok_or("it has no CPU")?;
        let mut places = Places::open(process)?;
        let found = Sleepers::find(&mut Memory::new(monitor, &mut places), tables);
        Ok(Self { sleepers: found.map_err(|missing| missing.to_string())?, places })
    }

    /// Who sleeps now.
    pub(super) fn look(&mut self, monitor: &mut Monitor) -> Vec<Sleeper> {
        self.sleepers.look(&mut Memory::new(monitor, &mut self.places))
    }

    /// What those wait for who sleep still, while the machine is held. Of those who sleep for the same lock it is the first who is told of.
    pub(super) fn waits(&mut self, monitor: &mut Monitor, late: &[(Sleeper, Duration)]) -> Vec<Wait> {
        let cpus = processors(monitor).unwrap_or_default();
        let cpus: Vec<Registers> = cpus.iter().map(Processor::place).collect();
        let still = self.look(monitor);
        let mut memory = Memory::new(monitor, &mut self.places);
        let mut kernel = self.sleepers.kernel(&mut memory);
        let late = late.iter().filter(|(sleeper, _)| still.contains(sleeper));
        let waits = late.filter_map(|(sleeper, slept)| wait(&mut kernel, (sleeper, *slept), &cpus));
        let mut locks = HashSet::new();
        waits.filter(|wait| wait.lock.address.is_none_or(|lock| locks.insert(lock))).collect()
    }
}

fn wait(kernel: &mut Kernel<'_>, (sleeper, slept): (&Sleeper, Duration), cpus: &[Registers]) -> Option<Wait> {
    let task_at = |kernel: &mut Kernel<'_>, at| -> Option<Task> { kernel.task(at, cpus).ok()? };
    let task = task_at(kernel, sleeper.task)?;
    let lock = kernel.lock(sleeper.task, &task.calls)?;
    Some(Wait {
        slept_ns: u64::try_from(slept.as_nanos()).unwrap_or(u64::MAX),
        name: lock.address.and_then(|address| kernel.data(address)),
        owner: lock.owner.and_then(|owner| task_at(kernel, owner)),
        task,
        lock,
    })
}
