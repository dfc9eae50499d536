//! The core dump of a process that crashed: elf(5), core(5), and what the kernel writes into one (fs/binfmt_elf.c).
//!
//! * [`notes`]: its threads, and what else is known of it
//! * [`memory`]: what was in its memory

mod memory;
mod notes;

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use object::elf::{self, FileHeader64, Ident, ProgramHeader64};
use object::endian::{LittleEndian as Le, U16, U32, U64};
use object::pod::bytes_of;

use crate::monitor::Crash;
use memory::Memory;

/// Size of a page, in bytes: of x86-64, as this format is.
const PAGE: u64 = 4096;

/// Writes the core dump of a process that crashed into a new file that only its user may read; gives the bytes that this takes on
/// the disk: pages that hold nothing are holes.
///
/// # Errors
///
/// When the file is there already or cannot be written, or the process is gone.
pub fn write_core(crash: &Crash, path: &Path) -> io::Result<u64> {
    let notes = notes::notes(crash)?;
    let segments = memory::segments(crash.process)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut out = BufWriter::new(file);
    let headers = size_of::<FileHeader64<Le>>() + (segments.len() + 1) * size_of::<ProgramHeader64<Le>>();
    let begin = (headers + notes.len()).next_multiple_of(PAGE as usize) as u64;
    out.write_all(bytes_of(&file_header(segments.len() + 1)))?;
    out.write_all(bytes_of(&notes_header(headers as u64, notes.len() as u64)))?;
    let mut offset = begin;
    for segment in &segments {
        out.write_all(bytes_of(&segment.header(offset)))?;
        offset += segment.length();
    }
    out.write_all(&notes)?;
    let memory = Memory::open(crash.process)?;
    let mut at = begin;
    for segment in &segments {
        out.seek(SeekFrom::Start(at))?;
        segment.copy(&memory, &mut out)?;
        at += segment.length();
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.set_len(offset)?;
    Ok(file.metadata()?.blocks() * 512)
}

fn file_header(segments: usize) -> FileHeader64<Le> {
    FileHeader64 {
        e_ident: Ident {
            magic: elf::ELFMAG,
            class: elf::ELFCLASS64,
            data: elf::ELFDATA2LSB,
            version: elf::EV_CURRENT,
            os_abi: elf::ELFOSABI_SYSV,
            abi_version: 0,
            padding: [0; 7],
        },
        e_type: U16::new(Le, elf::ET_CORE),
        e_machine: U16::new(Le, elf::EM_X86_64),
        e_version: U32::new(Le, elf::EV_CURRENT.0.into()),
        e_entry: U64::default(),
        e_phoff: U64::new(Le, size_of::<FileHeader64<Le>>() as u64),
        e_shoff: U64::default(),
        e_flags: U32::default(),
        e_ehsize: U16::new(Le, size_of::<FileHeader64<Le>>() as u16),
        e_phentsize: U16::new(Le, size_of::<ProgramHeader64<Le>>() as u16),
        e_phnum: U16::new(Le, segments as u16),
        e_shentsize: U16::default(),
        e_shnum: U16::default(),
        e_shstrndx: U16::default(),
    }
}

fn notes_header(offset: u64, length: u64) -> ProgramHeader64<Le> {
    ProgramHeader64 {
        p_type: U32::new(Le, elf::PT_NOTE),
        p_flags: U32::default(),
        p_offset: U64::new(Le, offset),
        p_vaddr: U64::default(),
        p_paddr: U64::default(),
        p_filesz: U64::new(Le, length),
        p_memsz: U64::default(),
        p_align: U64::new(Le, 4),
    }
}
