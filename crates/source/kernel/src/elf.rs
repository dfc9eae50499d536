//! As much of ELF as kernels and modules need: elf(5).

use object::LittleEndian as Little;
use object::elf::{self, FileHeader64, NoteType, ProgramHeader64, SectionHeader64, Sym64};
use object::read::StringTable;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use crate::bytes::u16_at;

/// The machine number of 64-bit x86.
pub(crate) const X86_64: u16 = elf::EM_X86_64.0;

/// An ELF file, whose tables are looked at only on demand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
}

/// What an ELF file is for, as far as its first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Relocatable,
    Executable,
    Shared,
    Core,
    Other,
}

/// Headers of sections, and their names.
type Sections<'a> = (&'a [SectionHeader64<Little>], StringTable<'a>);

impl<'a> Elf<'a> {
    /// Anything that begins as an ELF file does.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        (bytes.starts_with(&elf::ELFMAG) && bytes.len() >= 20).then_some(Self { bytes })
    }

    /// Whether this is for 64-bit x86; everything after the machine number is read on that condition only.
    pub(crate) fn is_x86_64(&self) -> bool {
        self.bytes[4..6] == [2, 1] && self.machine() == X86_64
    }

    /// The machine number, which is at the same place in files of all classes, also in those that are cut off.
    pub(crate) fn machine(&self) -> u16 {
        let number = [self.bytes[18], self.bytes[19]];
        if self.bytes[5] == 2 { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) }
    }

    pub(crate) fn purpose(&self) -> Purpose {
        match u16_at(self.bytes, 16) {
            Some(1) => Purpose::Relocatable,
            Some(2) => Purpose::Executable,
            Some(3) => Purpose::Shared,
            Some(4) => Purpose::Core,
            _ => Purpose::Other,
        }
    }

    /// The program headers, or none if the table is not wholly in the file.
    pub(crate) fn segments(&self) -> Option<&'a [ProgramHeader64<Little>]> {
        self.header()?.program_headers(Little, self.bytes).ok()
    }

    /// Where the table of program headers ends, which a truncated file may not reach.
    pub(crate) fn end_of_segment_table(&self) -> Option<u64> {
        let header = self.header()?;
        let size = u64::from(header.e_phnum(Little)) * size_of::<ProgramHeader64<Little>>() as u64;
        header.e_phoff(Little).checked_add(size)
    }

    /// Whether a segment of notes has one of this owner and kind.
    pub(crate) fn has_note(&self, owner: &[u8], kind: NoteType) -> bool {
        let segments = self.segments().into_iter().flatten();
        let mut notes = segments.filter_map(|segment| segment.notes(Little, self.bytes).ok().flatten());
        notes.any(|mut notes| {
            std::iter::from_fn(|| notes.next().ok().flatten())
                .any(|note| note.n_type(Little) == kind && note.name() == owner)
        })
    }

    /// The bytes of the section of that name; `Err` if the section table is not wholly in the file.
    pub(crate) fn section(&self, name: &str) -> Result<Option<&'a [u8]>, OutOfFile> {
        let (sections, names) = self.sections()?;
        let found = sections.iter().find(|section| section.name(Little, names) == Ok(name.as_bytes()));
        found.map(|section| section.data(Little, self.bytes).map_err(|_| OutOfFile)).transpose()
    }

    /// Whether a section's name begins like this; `Err` if the section table is not wholly in the file.
    pub(crate) fn has_section_like(&self, start: &str) -> Result<bool, OutOfFile> {
        let (sections, names) = self.sections()?;
        let begins = |section: &SectionHeader64<Little>| {
            section.name(Little, names).is_ok_and(|name| name.starts_with(start.as_bytes()))
        };
        Ok(sections.iter().any(begins))
    }

    /// Where the table of sections ends, which a truncated file may not reach.
    pub(crate) fn end_of_section_table(&self) -> Option<u64> {
        let header = self.header()?;
        let size = u64::from(header.e_shnum(Little)) * size_of::<SectionHeader64<Little>>() as u64;
        header.e_shoff(Little).checked_add(size)
    }

    /// The symbols, and the bytes that hold their names; nothing if there are none.
    pub(crate) fn symbols(&self) -> Option<(&'a [Sym64<Little>], &'a [u8])> {
        let (entries, names) = (self.section(".symtab").ok()??, self.section(".strtab").ok()??);
        let count = entries.len() / size_of::<Sym64<Little>>();
        let (symbols, _) = object::pod::slice_from_bytes(entries, count).ok()?;
        Some((symbols, names))
    }

    fn header(&self) -> Option<&'a FileHeader64<Little>> {
        FileHeader64::parse(self.bytes).ok()
    }

    fn sections(&self) -> Result<Sections<'a>, OutOfFile> {
        let header = self.header().ok_or(OutOfFile)?;
        let sections = header.section_headers(Little, self.bytes).map_err(|_| OutOfFile)?;
        let index = header.section_strings_index(Little, self.bytes).map_err(|_| OutOfFile)?;
        let names = sections.get(index.0).ok_or(OutOfFile)?.data(Little, self.bytes);
        let names = names.map_err(|_| OutOfFile)?;
        Ok((sections, StringTable::new(names, 0, names.len() as u64)))
    }
}

/// A table or a section that is promised and lies beyond the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfFile;

/// The name people use for a machine number.
pub(crate) fn machine_name(machine: u16) -> String {
    let name = match machine {
        X86_64 => "32-bit code for x86-64",
        2 | 18 | 43 => "SPARC",
        3 => "i386",
        4 => "m68k",
        8 => "MIPS",
        15 => "PA-RISC",
        20 => "PowerPC",
        21 => "PowerPC 64",
        22 => "s390",
        40 => "ARM",
        42 => "SuperH",
        50 => "Itanium",
        183 => "arm64",
        195 => "ARC",
        243 => "RISC-V",
        247 => "BPF",
        252 => "C-SKY",
        258 => "LoongArch",
        other => return format!("ELF machine {other}"),
    };
    name.to_owned()
}
