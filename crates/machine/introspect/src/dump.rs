//! Dumps of a machine's memory as QEMU writes them: ELF, with a note for each CPU (`QEMUCPUState` of target/i386/arch_dump.c).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use kernel::bytes::u64_at;
use object::LittleEndian as Little;
use object::elf::{FileHeader64, PT_LOAD};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};

use crate::memory::Physical;
use crate::{Registers, Tables};

/// The name of the notes.
const NAME: &[u8] = b"QEMU";

/// Where a note has registers: behind version and size there are eighteen, then ten segments of 24 bytes, then the control registers.
const SP: usize = 8 + 8 * 6;
const BP: usize = 8 + 8 * 7;
const IP: usize = 8 + 8 * 16;
const CONTROL: usize = 8 + 8 * 18 + 24 * 10;

/// A dump.
#[derive(Debug)]
pub struct Dump {
    file: File,
    /// Physical address, place in the file, length.
    parts: Vec<(u64, u64, u64)>,
    /// How the first CPU translates addresses.
    pub tables: Tables,
    /// Where the CPUs are.
    pub cpus: Vec<Registers>,
}

/// A file that is no such dump.
#[derive(Debug, thiserror::Error)]
pub enum WrongDump {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It has another form.
    #[error("no memory of a machine as QEMU dumps it: {0}")]
    Form(&'static str),
}

impl Dump {
    /// Opens one.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is none.
    pub fn open(path: &Path) -> Result<Self, WrongDump> {
        let file = File::open(path)?;
        let (mut parts, mut tables, mut cpus) = (Vec::new(), None, Vec::new());
        let content = ReadCache::new(&file);
        let wrong = |_| WrongDump::Form("no ELF file for 64 bits");
        let header = FileHeader64::<Little>::parse(&content).map_err(wrong)?;
        for part in header.program_headers(Little, &content).map_err(wrong)? {
            if part.p_type(Little) == PT_LOAD {
                parts.push((part.p_paddr(Little), part.p_offset(Little), part.p_filesz(Little)));
            }
            let mut notes = part.notes(Little, &content).map_err(wrong)?;
            while let Some(note) = notes.as_mut().and_then(|notes| notes.next().ok().flatten()) {
                if note.name() == NAME {
                    let (first, registers) =
                        cpu(note.desc()).ok_or(WrongDump::Form("a CPU lacks registers"))?;
                    tables = tables.or(Some(first));
                    cpus.push(registers);
                }
            }
        }
        let tables = tables.ok_or(WrongDump::Form("it has no CPU"))?;
        Ok(Self { file, parts, tables, cpus })
    }
}

/// What a note says.
fn cpu(note: &[u8]) -> Option<(Tables, Registers)> {
    let word = |at: usize| u64_at(note, at as u64);
    let control = |number: usize| word(CONTROL + 8 * number);
    let tables = Tables::new(control(3)?, control(4)?);
    Some((tables, Registers { ip: word(IP)?, sp: word(SP)?, bp: word(BP)? }))
}

impl Physical for Dump {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let length = bytes.len() as u64;
        let place = self.parts.iter().find_map(|&(begin, place, size)| {
            let within = address.checked_sub(begin)?;
            (within.checked_add(length)? <= size).then(|| place.checked_add(within))?
        });
        place.is_some_and(|place| self.file.read_exact_at(bytes, place).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_dump_is_named() {
        let folder = std::env::temp_dir().join(format!("introspect-{}", std::process::id()));
        std::fs::write(&folder, "no dump").expect("writable");
        let wrong = Dump::open(&folder).expect_err("it is none").to_string();
        std::fs::remove_file(&folder).expect("it is ours");
        assert_eq!(wrong, "no memory of a machine as QEMU dumps it: no ELF file for 64 bits");
        assert!(matches!(Dump::open(&folder), Err(WrongDump::Io(_))));
    }

    #[test]
    fn a_cpu_is_read_as_qemu_writes_it() {
        let mut note = vec![0; CONTROL + 5 * 8];
        for (at, value) in [(IP, 1_u64), (SP, 2), (BP, 3), (CONTROL + 24, 4), (CONTROL + 32, 1 << 12)] {
            note[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let tables = Tables { cr3: 4, has_five_levels: true };
        assert_eq!(cpu(&note), Some((tables, Registers { ip: 1, sp: 2, bp: 3 })));
        assert_eq!(cpu(&note[..note.len() - 1]), None);
    }
}
