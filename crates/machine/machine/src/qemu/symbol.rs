//! The name of the function in which a processor is, by the `System.map` of its kernel's build.
//!
//! Where KASLR has put the kernel is told by its banner: it stands at a place that the map knows, behind a beginning of which
//! the kernel's alignment leaves few. A name is given only if there is one such place, and if the processor sees the banner
//! there with the same shift as the function.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::memory::Memory;

/// `linux_banner` of init/version.c.
const BANNER: &[u8] = b"Linux version ";

/// The least that a kernel is aligned to: `MIN_KERNEL_ALIGN` of 64-bit x86.
const ALIGNMENT: u64 = 2 << 20;

/// Most that is read of a map.
const MAP_MAX: u64 = 64 << 20;

/// What tells where the functions of a kernel lie.
#[derive(Debug)]
pub(super) struct Symbols {
    map: PathBuf,
    memory: Memory,
}

/// An address as a line of a map has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    address: u64,
    is_code: bool,
    name: &'a str,
}

impl Symbols {
    /// Those of the kernel of this map in a machine with this memory.
    pub(super) fn new(map: &Path, memory: Memory) -> Self {
        Self { map: map.to_path_buf(), memory }
    }

    /// Lines of `info registers -a` with a name for each program counter of which it is certain. `physical` says where
    /// what a processor sees at an address lies in memory.
    pub(super) fn name_counters(
        &self,
        lines: Vec<String>,
        physical: &mut dyn FnMut(u64, u64) -> Option<u64>,
    ) -> Vec<String> {
        let Some(map) = self.read_map() else { return lines };
        let entries: Vec<Entry<'_>> = map.lines().filter_map(entry).collect();
        let mut cpu = 0;
        let named = lines.into_iter().map(|line| {
            cpu = line.strip_prefix("CPU#").and_then(|number| number.trim().parse().ok()).unwrap_or(cpu);
            let name =
                counter(&line).and_then(|at| self.name(&entries, at, &mut |place| physical(cpu, place)));
            name.map_or(line.clone(), |name| line.replacen(' ', &format!(" ({name}) "), 1))
        });
        named.collect()
    }

    fn read_map(&self) -> Option<String> {
        let mut text = String::new();
        File::open(&self.map).ok()?.take(MAP_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn name(
        &self,
        entries: &[Entry<'_>],
        counter: u64,
        physical: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Option<String> {
        let address_of =
            |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| entry.address);
        let (begin, end, banner) = (address_of("_text")?, address_of("_end")?, address_of("linux_banner")?);
        let base = self.base(banner.checked_sub(begin)?)?;
        let address = begin.checked_add(physical(counter)?.checked_sub(base)?).filter(|&at| at < end)?;
        let shift = counter.wrapping_sub(address);
        let is_seen = physical(banner.wrapping_add(shift))? == base + (banner - begin);
        let nearest =
            entries.iter().filter(|entry| entry.address <= address).max_by_key(|entry| entry.address)?;
        (is_seen && nearest.is_code).then(|| format!("{}+{:#x}", nearest.name, address - nearest.address))
    }

    /// Where the kernel begins in memory, whose banner is so far behind that; nothing if there are two such places.
    fn base(&self, banner: u64) -> Option<u64> {
        let mut bytes = [0; BANNER.len()];
        let mut is_base =
            |base: &u64| self.memory.read_exact_at(&mut bytes, base + banner).is_ok() && bytes == *BANNER;
        let last = self.memory.length().checked_sub(banner)?;
        let mut bases = (0..last).step_by(ALIGNMENT as usize).filter(|base| is_base(base));
        bases.next().filter(|_| bases.next().is_none())
    }
}

/// `ffffffff81000000 T _text`.
fn entry(line: &str) -> Option<Entry<'_>> {
    let mut words = line.split_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let is_code = matches!(words.next()?, "T" | "t" | "W" | "w");
    Some(Entry { address, is_code, name: words.next()? })
}

/// The program counter of a line that has it first.
fn counter(line: &str) -> Option<u64> {
    let number = line.strip_prefix("RIP=")?.split(' ').next()?;
    u64::from_str_radix(number, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    const MAP: &str = "\
        0000000000000000 A fixed_percpu_data\n\
        ffffffff81000000 T startup_64\n\
        ffffffff81000000 T _text\n\
        ffffffff81000100 t stops\n\
        ffffffff81000200 W goes_on\n\
        ffffffff81200040 R linux_banner\n\
        ffffffff81300000 B counter\n\
        ffffffff81400000 B _end\n";

    /// Where it lies in memory, and where it was linked.
    const BASE: u64 = 6 << 20;
    const LINKED: u64 = 0xffff_ffff_8100_0000;

    fn symbols(bases: &[u64]) -> (Symbols, tempfile::NamedTempFile) {
        let mut map = tempfile::NamedTempFile::new().unwrap();
        map.write_all(MAP.as_bytes()).unwrap();
        let memory = Memory::new(&[64]).unwrap();
        for base in bases {
            memory.files()[0].write_all_at(b"Linux version 6.1.0", base + 0x20_0040).unwrap();
        }
        (Symbols::new(map.path(), memory), map)
    }

    /// What becomes of the program counter of processor 1 in a kernel that KASLR has shifted by `shift`.
    fn named(symbols: &Symbols, counter: u64, shift: u64) -> String {
        let lines = ["CPU#0", "RAX=0", "CPU#1", &format!("RIP={counter:016x} RFL=00000046 [---Z-P-]")];
        let mut physical = |cpu: u64, at: u64| {
            let offset = at.checked_sub(LINKED + shift).filter(|&offset| offset < 4 << 20)?;
            (cpu == 1).then_some(BASE + offset)
        };
        symbols.name_counters(lines.map(str::to_string).to_vec(), &mut physical).remove(3)
    }

    #[test]
    fn a_function_is_named_wherever_the_kernel_lies() {
        let (symbols, _map) = symbols(&[BASE]);
        for shift in [0, 0x1a00_0000] {
            let at = LINKED + shift + 0x1f0;
            let expected = format!("RIP={at:016x} (stops+0xf0) RFL=00000046 [---Z-P-]");
            assert_eq!(named(&symbols, at, shift), expected);
            assert!(named(&symbols, LINKED + shift + 0x200, shift).contains(" (goes_on+0x0) "));
        }
    }

    #[test]
    fn what_is_not_certain_has_no_name() {
        let at = LINKED + 0x1f0;
        for bases in [&[][..], &[BASE, BASE + ALIGNMENT], &[BASE + ALIGNMENT]] {
            assert!(!named(&symbols(bases).0, at, 0).contains('('), "{bases:?}");
        }
        let (symbols, _map) = symbols(&[BASE]);
        for (at, shift) in [(LINKED + 0x30_0010, 0), (LINKED + (5 << 20), 0), (at, 0x20_0000), (0, 0)] {
            assert!(!named(&symbols, at, shift).contains('('), "{at:x} {shift:x}");
        }
        // Another mapping of the same memory.
        let elsewhere = &mut |_, at| (at == 0x1f0).then_some(BASE + 0x1f0);
        let line = vec!["RIP=00000000000001f0 RFL=0".to_string()];
        assert_eq!(symbols.name_counters(line.clone(), elsewhere), line);
        let no_map = Symbols { map: "/nowhere".into(), ..symbols };
        assert!(!named(&no_map, at, 0).contains('('));
    }
}
