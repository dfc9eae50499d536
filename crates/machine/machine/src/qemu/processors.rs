//! The registers of a machine's CPUs, as QEMU shows them.

use std::collections::HashMap;

use introspect::{Registers, Tables};

use super::monitor::Monitor;

/// The segments whose bases may be something.
const SEGMENTS: [&str; 2] = ["FS", "GS"];

/// A CPU: its registers by their names, and the bases of its segments.
#[derive(Debug, Default)]
pub(super) struct Processor(HashMap<String, u64>);

/// The CPUs; nothing if QEMU does not show them.
pub(super) fn processors(monitor: &mut Monitor) -> Option<Vec<Processor>> {
    let found = read(&monitor.ask("info registers -a")?);
    (!found.is_empty()).then_some(found)
}

/// What `info registers -a` says.
fn read(text: &str) -> Vec<Processor> {
    let mut cpus: Vec<Processor> = Vec::new();
    for line in text.lines() {
        if line.starts_with("CPU#") {
            cpus.push(Processor::default());
        }
        let Some(Processor(registers)) = cpus.last_mut() else { continue };
        // `R8 =0000`; a segment has its base behind its selector: `GS =0000 ffff88803dc00000 ffffffff 00c00100`.
        let line = line.replace(" =", "=");
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let named = words.iter().filter_map(|word| word.split_once('='));
        for (name, value) in named {
            let value =
                if SEGMENTS.contains(&name) { words.get(1).copied().unwrap_or_default() } else { value };
            registers.extend(u64::from_str_radix(value, 16).ok().map(|value| (name.to_owned(), value)));
        }
    }
    cpus
}

impl Processor {
    /// A register by its name, or the base of a segment.
    pub(super) fn register(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// Where it is.
    pub(super) fn place(&self) -> Registers {
        let of = |name| self.register(name).unwrap_or(0);
        Registers { ip: of("RIP"), sp: of("RSP"), bp: of("RBP") }
    }

    /// How it translates addresses.
    pub(super) fn tables(&self) -> Tables {
        let of = |name| self.register(name).unwrap_or(0);
        Tables::new(of("CR3"), of("CR4"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_as_qemu_shows_them() {
        let text = "\nCPU#0\nRAX=0000000000000000 RBX=ff\nRSI=1 RDI=2 RBP=00000000000000b0 RSP=ff60\nR8 =08 R9 =09 R10=0a R11=0b\n\
                    RIP=ffffffffb103d023 RFL=00000046 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\n\
                    ES =0000 0000000000000000 ffffffff 00c00100\nGS =0000 ffff88803dc00000 ffffffff 00c00100\nGDT=     ff1 7f\n\
                    CR0=80050033 CR2=00007f CR3=0000000002640000 CR4=00751eb0\n\
                    CPU#1\nRBP=1 RSP=2\nRIP=3 RFL=0\nCR3=1 CR4=0\n";
        let cpus = read(text);
        let [first, second] = &cpus[..] else { panic!("there are two: {cpus:?}") };
        assert_eq!(first.tables(), Tables { cr3: 0x264_0000, has_five_levels: true });
        assert_eq!(first.place(), Registers { ip: 0xffff_ffff_b103_d023, sp: 0xff60, bp: 0xb0 });
        assert_eq!(second.place(), Registers { ip: 3, sp: 2, bp: 1 });
        let of = |name| first.register(name);
        assert_eq!((of("R9"), of("R11"), of("GS")), (Some(9), Some(11), Some(0xffff_8880_3dc0_0000)));
        assert_eq!((of("R12"), of("RAX")), (None, Some(0)));
        assert!(read("RIP=3\n").is_empty());
    }
}
