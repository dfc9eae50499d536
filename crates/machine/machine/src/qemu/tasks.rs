//! The tasks of a machine's kernel, read from the memory that QEMU has for it: proc_pid_mem(5).

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use introspect::{Kernel, Physical, Task};

use super::monitor::Monitor;
use super::processors::{Processor, processors};

/// Memory is looked for in parts of this size: QEMU's blocks are larger, and begin and end between them.
const PART: u64 = 2 << 20;

/// All tasks of a machine that is held, or why they are not known.
pub(super) fn read(monitor: &mut Monitor, process: u32) -> Result<Vec<Task>, String> {
    let processors = processors(monitor).ok_or("QEMU does not show the registers")?;
    let tables = processors.first().map(Processor::tables).ok_or("it has no CPU")?;
    let cpus: Vec<_> = processors.iter().map(Processor::place).collect();
    let mut places = Places::open(process)?;
    let mut memory = Memory::new(monitor, &mut places);
    let found = Kernel::find(&mut memory, tables).and_then(|mut kernel| kernel.tasks(&cpus));
    found.map_err(|missing| missing.to_string())
}

/// Where QEMU has the memory of its machine, as far as it was asked.
#[derive(Debug)]
pub(super) struct Places {
    /// QEMU's own.
    file: File,
    /// Where each part is in that, if it is memory.
    parts: HashMap<u64, Option<u64>>,
}

impl Places {
    /// Those of this QEMU.
    pub(super) fn open(process: u32) -> Result<Self, String> {
        let file = File::open(format!("/proc/{process}/mem")).map_err(|error| error.to_string())?;
        Ok(Self { file, parts: HashMap::new() })
    }
}

/// The machine's memory.
pub(super) struct Memory<'a> {
    monitor: &'a mut Monitor,
    places: &'a mut Places,
}

impl<'a> Memory<'a> {
    /// That of the machine which this QEMU runs.
    pub(super) fn new(monitor: &'a mut Monitor, places: &'a mut Places) -> Self {
        Self { monitor, places }
    }
}

impl Physical for Memory<'_> {
    fn read(&mut self, mut address: u64, mut bytes: &mut [u8]) -> bool {
        while !bytes.is_empty() {
            let (part, within) = (address / PART, address % PART);
            let monitor = &mut *self.monitor;
            let place = *self.places.parts.entry(part).or_insert_with(|| place(monitor, part * PART));
            let left = usize::try_from(PART - within).unwrap_or(usize::MAX).min(bytes.len());
            let (first, rest) = bytes.split_at_mut(left);
            if place.is_none_or(|place| self.places.file.read_exact_at(first, place + within).is_err()) {
                return false;
            }
            address += left as u64;
            bytes = rest;
        }
        true
    }
}

/// Where QEMU has what is at an address of the machine: `Host virtual address for 0x0 (memory) is 0x7f8c00000000`.
fn place(monitor: &mut Monitor, address: u64) -> Option<u64> {
    let answer = monitor.ask(&format!("gpa2hva {address:#x}"))?;
    let number = answer.trim().rsplit_once(" is 0x")?.1;
    u64::from_str_radix(number, 16).ok()
}
