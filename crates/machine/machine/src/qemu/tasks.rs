//! The tasks of a machine's kernel, read from the memory that QEMU has for it: proc_pid_mem(5).

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use introspect::{Physical, Registers, Tables, Task, tasks};

use super::monitor::Monitor;

/// Memory is looked for in parts of this size: QEMU's blocks are larger, and begin and end between them.
const PART: u64 = 2 << 20;

/// All tasks of a machine that is held, or why they are not known.
pub(super) fn read(monitor: &mut Monitor, process: u32) -> Result<Vec<Task>, String> {
    let registers = monitor.ask("info registers -a").unwrap_or_default();
    let (tables, cpus) = processors(&registers).ok_or("QEMU does not show the registers")?;
    let file = File::open(format!("/proc/{process}/mem")).map_err(|error| error.to_string())?;
    let mut memory = Memory { monitor, file, parts: HashMap::new() };
    tasks(&mut memory, tables, &cpus).map_err(|missing| missing.to_string())
}

/// What `info registers -a` says: how the first CPU translates addresses, and where each is.
fn processors(text: &str) -> Option<(Tables, Vec<Registers>)> {
    let mut cpus: Vec<HashMap<&str, u64>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("CPU#") {
            cpus.push(HashMap::new());
        }
        let Some(cpu) = cpus.last_mut() else { continue };
        for (name, value) in line.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
            cpu.extend(u64::from_str_radix(value, 16).ok().map(|value| (name, value)));
        }
    }
    let first = cpus.first()?;
    let tables = Tables::new(*first.get("CR3")?, *first.get("CR4")?);
    let registers = |cpu: &HashMap<&str, u64>| {
        Some(Registers { ip: *cpu.get("RIP")?, sp: *cpu.get("RSP")?, bp: *cpu.get("RBP")? })
    };
    Some((tables, cpus.iter().map(|cpu| registers(cpu).unwrap_or_default()).collect()))
}

/// The machine's memory.
struct Memory<'a> {
    monitor: &'a mut Monitor,
    /// QEMU's.
    file: File,
    /// Where each part is in that, if it is memory.
    parts: HashMap<u64, Option<u64>>,
}

impl Physical for Memory<'_> {
    fn read(&mut self, mut address: u64, mut bytes: &mut [u8]) -> bool {
        while !bytes.is_empty() {
            let (part, within) = (address / PART, address % PART);
            let monitor = &mut *self.monitor;
            let place = *self.parts.entry(part).or_insert_with(|| place(monitor, part * PART));
            let left = usize::try_from(PART - within).unwrap_or(usize::MAX).min(bytes.len());
            let (first, rest) = bytes.split_at_mut(left);
            if place.is_none_or(|place| self.file.read_exact_at(first, place + within).is_err()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_as_qemu_shows_them() {
        let text = "\nCPU#0\nRAX=0000000000000000 RBX=ff\nRSI=1 RDI=2 RBP=00000000000000b0 RSP=ff60\n\
                    RIP=ffffffffb103d023 RFL=00000046 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\n\
                    CR0=80050033 CR2=00007f CR3=0000000002640000 CR4=00751eb0\n\
                    CPU#1\nRBP=1 RSP=2\nRIP=3 RFL=0\nCR3=1 CR4=0\n";
        let (tables, cpus) = processors(text).expect("it has two");
        assert_eq!(tables, Tables { cr3: 0x264_0000, has_five_levels: true });
        let first = Registers { ip: 0xffff_ffff_b103_d023, sp: 0xff60, bp: 0xb0 };
        assert_eq!(cpus, [first, Registers { ip: 3, sp: 2, bp: 1 }]);
        assert_eq!(processors("RIP=3\n"), None);
    }
}
