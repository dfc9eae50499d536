//! Data of the kernel that is watched: QEMU stops a machine behind the instruction that has written to it.

use std::os::fd::AsFd;

use introspect::{Kernel, Known, Registers};

use super::gdb::Stub;
use super::monitor::Monitor;
use super::processors::{Processor, processors};
use super::tasks::{Memory, Places};
use crate::hazards::{Variable, Write};

/// The name by which QEMU knows our side of its stub.
const PORT: &str = "gdb";

/// Bytes that are watched at most, and how many variables: a CPU that KVM runs has as many registers for that.
const BYTES_MAX: u64 = 8;
const VARIABLES_MAX: usize = 4;

/// How often a machine is stopped for each variable at most.
const STOPS_MAX: usize = 64;

/// What is watched in a machine.
#[derive(Debug)]
pub(super) struct Watch {
    stub: Stub,
    watched: Vec<Watched>,
    known: Known,
    places: Places,
}

#[derive(Debug)]
struct Watched {
    name: String,
    address: u64,
    bytes: u64,
    /// Its value when it was last seen.
    value: Option<u64>,
    stops: usize,
}

impl Watch {
    /// Watches variables of the kernel of a machine that is held, and those no more that were watched before.
    pub(super) fn begin(
        (monitor, process): (&mut Monitor, u32),
        variables: &[&Variable],
        watch: &mut Option<Self>,
    ) -> Result<(), String> {
        if let Some(before) = watch {
            // Another kernel may have begun.
            let _ = before.end();
        }
        if variables.len() > VARIABLES_MAX {
            return Err(format!("{} variables: {VARIABLES_MAX} can be watched", variables.len()));
        }
        let processors = processors(monitor).ok_or("QEMU does not show the registers")?;
        let tables = processors.first().map(Processor::tables).ok_or("it has no CPU")?;
        let mut places = Places::open(process)?;
        let mut memory = Memory::new(monitor, &mut places);
        let known = Known::find(&mut memory, tables).map_err(|missing| missing.to_string())?;
        let mut kernel = known.kernel(&mut memory);
        let watched = variables.iter().map(|variable| Watched::find(&mut kernel, variable));
        let watched: Vec<Watched> = watched.collect::<Result<_, _>>()?;
        let stub = watch.take().map_or_else(|| attach(monitor), |before| Ok(before.stub))?;
        let watch = watch.insert(Self { stub, watched, known, places });
        let begun = watch.watched.iter().try_for_each(|one| one.tell(&mut watch.stub, 'Z'));
        if begun.is_err() {
            // The one that cannot be watched cannot be removed either.
            let _ = watch.end();
        }
        begun
    }

    /// Watches them no more; the machine is held.
    pub(super) fn end(&mut self) -> Result<(), String> {
        let Self { stub, watched, .. } = self;
        let ended = watched.drain(..).filter(|one| one.stops < STOPS_MAX).map(|one| one.tell(stub, 'z'));
        ended.fold(Ok(()), Result::and)
    }

    /// Has the stub say where the machine stops once it goes on; it is held.
    pub(super) fn listen(&mut self) -> Result<(), String> {
        self.stub.listen()
    }

    /// The write at which the machine stands, if it does at one.
    pub(super) fn hit(&mut self, monitor: &mut Monitor) -> Option<Write> {
        let hit = self.stub.hit()?;
        let is_hit = |one: &&mut Watched| (one.address..one.address + one.bytes).contains(&hit.address);
        let one = self.watched.iter_mut().find(is_hit)?;
        one.stops += 1;
        let is_last = one.stops == STOPS_MAX;
        if is_last {
            one.tell(&mut self.stub, 'z').ok()?;
        }
        let mut write = Write {
            variable: one.name.clone(),
            address: one.address,
            before: one.value,
            after: None,
            cpu: u32::try_from(hit.cpu).ok()?,
            calls: Vec::new(),
            task: None,
            is_last,
        };
        let processors = processors(monitor)?;
        let cpus: Vec<Registers> = processors.iter().map(Processor::place).collect();
        let processor = processors.get(hit.cpu)?;
        let mut memory = Memory::new(monitor, &mut self.places);
        let mut kernel = self.known.kernel(&mut memory);
        write.after = one.look(&mut kernel);
        write.calls = kernel.calls(processor.place());
        let tasks = kernel.tasks(&cpus).unwrap_or_default();
        write.task = tasks.into_iter().find(|task| task.on_cpu == Some(write.cpu));
        Some(write)
    }
}

impl Watched {
    fn find(kernel: &mut Kernel<'_>, variable: &Variable) -> Result<Self, String> {
        let range = kernel.variable(&variable.symbol).map_err(|error| error.to_string())?;
        let address = range.start.saturating_add(variable.offset);
        let left = range.end.saturating_sub(address);
        if left == 0 {
            return Err(format!("{} has {} bytes", variable.symbol, range.end - range.start));
        }
        let mut found =
            Self { name: variable.to_string(), address, bytes: width(address, left), value: None, stops: 0 };
        found.look(kernel);
        Ok(found)
    }

    /// Its value now.
    fn look(&mut self, kernel: &mut Kernel<'_>) -> Option<u64> {
        let found = kernel.bytes(self.address, usize::try_from(self.bytes).ok()?);
        let is_whole = found.len() as u64 == self.bytes;
        self.value = is_whole.then(|| found.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
        self.value
    }

    /// Has the stub set a watchpoint for writes (`Z2`) or remove it (`z2`).
    fn tell(&self, stub: &mut Stub, what: char) -> Result<(), String> {
        let answer = stub.ask(&format!("{what}2,{:x},{:x}", self.address, self.bytes))?;
        if answer == "OK" { Ok(()) } else { Err(format!("QEMU cannot watch {}: {answer}", self.name)) }
    }
}

/// As many bytes as one access can have there: a power of two, at its natural alignment.
fn width(address: u64, left: u64) -> u64 {
    let mut bytes = BYTES_MAX;
    while bytes > left || !address.is_multiple_of(bytes) {
        bytes /= 2;
    }
    bytes
}

/// Has QEMU open its stub, at whose other end we are.
fn attach(monitor: &mut Monitor) -> Result<Stub, String> {
    let (stub, its) = Stub::new().map_err(|error| error.to_string())?;
    monitor.add(PORT, its.as_fd())?;
    let said = monitor.ask(&format!("gdbserver chardev:{PORT}")).ok_or("QEMU does not answer")?;
    // Versions differ in how they complain.
    if said.starts_with("Waiting for gdb") { Ok(stub) } else { Err(said.trim().to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_watched_is_one_access_wide() {
        let of = |address, left| width(address, left);
        assert_eq!((of(0x10, 100), of(0x14, 100), of(0x16, 100), of(0x11, 100)), (8, 4, 2, 1));
        assert_eq!((of(0x10, 7), of(0x10, 3), of(0x10, 1)), (4, 2, 1));
    }
}
