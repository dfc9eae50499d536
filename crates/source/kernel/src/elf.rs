//! As much of ELF as kernels and modules need.

use crate::bytes::{piece, u16_at, u32_at, u64_at, until_nul};

/// The machine number of 64-bit x86.
pub(crate) const X86_64: u16 = 62;

/// An ELF file, whose tables are looked at only on demand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
}

/// A program header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) kind: u32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) size: u64,
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

const SEGMENT_SIZE: u64 = 56;
const SECTION_SIZE: u64 = 64;

impl<'a> Elf<'a> {
    /// Anything that begins as an ELF file does.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        (bytes.starts_with(b"\x7fELF") && bytes.len() >= 20).then_some(Self { bytes })
    }

    /// Whether this is for 64-bit x86; everything after the machine number is read on that condition only.
    pub(crate) fn is_x86_64(&self) -> bool {
        self.bytes[4..6] == [2, 1] && self.machine() == X86_64
    }

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
    pub(crate) fn segments(&self) -> Option<Vec<Segment>> {
        let table = u64_at(self.bytes, 0x20)?;
        let count = u64::from(u16_at(self.bytes, 0x38)?);
        if count > 0 && u64::from(u16_at(self.bytes, 0x36)?) != SEGMENT_SIZE {
            return None;
        }
        let table = piece(self.bytes, table, count * SEGMENT_SIZE)?;
        table.chunks_exact(SEGMENT_SIZE as usize).map(segment).collect()
    }

    /// Where the table of program headers ends, which a truncated file may not reach.
    pub(crate) fn end_of_segment_table(&self) -> Option<u64> {
        let count = u64::from(u16_at(self.bytes, 0x38)?);
        u64_at(self.bytes, 0x20)?.checked_add(count * SEGMENT_SIZE)
    }

    /// The bytes of a segment.
    pub(crate) fn content(&self, segment: &Segment) -> Option<&'a [u8]> {
        piece(self.bytes, segment.offset, segment.size)
    }

    /// The bytes of the section of that name; `Err` if the section table is not wholly in the file.
    pub(crate) fn section(&self, name: &str) -> Result<Option<&'a [u8]>, OutOfFile> {
        let table = self.section_table().ok_or(OutOfFile)?;
        let names = self.section_names(table).ok_or(OutOfFile)?;
        for header in table.chunks_exact(SECTION_SIZE as usize) {
            let at = u32_at(header, 0).unwrap_or(0);
            if until_nul(names, at.into(), name.len() + 1) == Some(name.as_bytes()) {
                return self.section_content(header).map(Some).ok_or(OutOfFile);
            }
        }
        Ok(None)
    }

    /// Whether a section's name begins like this; `Err` if the section table is not wholly in the file.
    pub(crate) fn has_section_like(&self, start: &str) -> Result<bool, OutOfFile> {
        let table = self.section_table().ok_or(OutOfFile)?;
        let names = self.section_names(table).ok_or(OutOfFile)?;
        let begins = |header: &[u8]| {
            let at = u32_at(header, 0).unwrap_or(0);
            piece(names, at.into(), start.len() as u64) == Some(start.as_bytes())
        };
        Ok(table.chunks_exact(SECTION_SIZE as usize).any(begins))
    }

    /// Where the table of sections ends, which a truncated file may not reach.
    pub(crate) fn end_of_section_table(&self) -> Option<u64> {
        let count = u64::from(u16_at(self.bytes, 0x3c)?);
        u64_at(self.bytes, 0x28)?.checked_add(count * SECTION_SIZE)
    }

    fn section_table(&self) -> Option<&'a [u8]> {
        let table = u64_at(self.bytes, 0x28)?;
        let size = u64::from(u16_at(self.bytes, 0x3a)?);
        if table == 0 || size != SECTION_SIZE {
            return None;
        }
        // More than 65279 sections: the count stands in the first header's size field.
        let count = match u16_at(self.bytes, 0x3c)? {
            0 => u64_at(piece(self.bytes, table, SECTION_SIZE)?, 32)?,
            count => count.into(),
        };
        piece(self.bytes, table, count.checked_mul(SECTION_SIZE)?)
    }

    fn section_names(&self, table: &'a [u8]) -> Option<&'a [u8]> {
        const IN_FIRST_HEADER: u16 = 0xffff;
        let index = match u16_at(self.bytes, 0x3e)? {
            IN_FIRST_HEADER => u64::from(u32_at(table, 40)?),
            index => index.into(),
        };
        self.section_content(piece(table, index.checked_mul(SECTION_SIZE)?, SECTION_SIZE)?)
    }

    fn section_content(&self, header: &[u8]) -> Option<&'a [u8]> {
        piece(self.bytes, u64_at(header, 24)?, u64_at(header, 32)?)
    }
}

/// A table or a section that is promised and lies beyond the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfFile;

fn segment(header: &[u8]) -> Option<Segment> {
    Some(Segment {
        kind: u32_at(header, 0)?,
        offset: u64_at(header, 8)?,
        address: u64_at(header, 16)?,
        size: u64_at(header, 32)?,
    })
}

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
