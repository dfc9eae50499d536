//! What was in the memory of a process.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;

use object::elf::{self, ProgramHeader64};
use object::endian::{LittleEndian as Le, U32, U64};
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process, VmFlags};

use super::PAGE;

/// Segments at most: a header has 16 bits for their number. A process has 65530 mappings, unless root allows more.
const SEGMENTS_MAX: usize = 65_000;

/// Bytes that are read at once.
const PART: usize = 64 << 10;

/// Bytes of an entry of pagemap.
const ENTRY: usize = 8;

/// A mapping of a process.
#[derive(Debug)]
pub(super) struct Segment {
    begin: u64,
    end: u64,
    permissions: MMPermissions,
    content: Content,
}

/// What of a mapping is in a dump: what no file has, as core(5) says of the default filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Nothing.
    Nothing,
    /// The first page, for a file of a program: by its build id a debugger finds the rest.
    FirstPage,
    /// Pages that have been used.
    Used,
    /// All pages.
    All,
}

/// The mappings of a process, in their order.
pub(super) fn segments(process: i32) -> io::Result<Vec<Segment>> {
    let maps = Process::new(process).and_then(|process| process.smaps()).map_err(io::Error::other)?;
    let segments = maps.0.iter().take(SEGMENTS_MAX).map(|map| Segment {
        begin: map.address.0,
        end: map.address.1,
        permissions: map.perms,
        content: content(map),
    });
    Ok(segments.collect())
}

fn content(map: &MemoryMap) -> Content {
    let is_out = VmFlags::DD | VmFlags::IO | VmFlags::PF;
    if map.extension.vm_flags.intersects(is_out) && map.pathname != MMapPath::Vdso {
        return Content::Nothing;
    }
    let is_private = map.perms.contains(MMPermissions::PRIVATE);
    let is_changed = map.extension.map.get("Anonymous").is_some_and(|bytes| *bytes > 0);
    match &map.pathname {
        MMapPath::Vvar | MMapPath::Vsyscall => Content::Nothing,
        MMapPath::Vdso => Content::All,
        MMapPath::Path(path)
            if is_private && is_changed || path.to_string_lossy().ends_with(" (deleted)") =>
        {
            Content::All
        }
        MMapPath::Path(_) if map.offset == 0 && is_private => Content::FirstPage,
        MMapPath::Path(_) => Content::Nothing,
        _ => Content::Used,
    }
}

impl Segment {
    /// Bytes of it in the file.
    pub(super) fn length(&self) -> u64 {
        match self.content {
            Content::Nothing => 0,
            Content::FirstPage => PAGE,
            Content::Used | Content::All => self.end - self.begin,
        }
    }

    /// What the file says of it, whose content begins there.
    pub(super) fn header(&self, offset: u64) -> ProgramHeader64<Le> {
        let flag = |permission, flag: elf::ProgramFlags| {
            if self.permissions.contains(permission) { flag } else { elf::ProgramFlags(0) }
        };
        ProgramHeader64 {
            p_type: U32::new(Le, elf::PT_LOAD),
            p_flags: U32::new(
                Le,
                flag(MMPermissions::READ, elf::PF_R)
                    | flag(MMPermissions::WRITE, elf::PF_W)
                    | flag(MMPermissions::EXECUTE, elf::PF_X),
            ),
            p_offset: U64::new(Le, offset),
            p_vaddr: U64::new(Le, self.begin),
            p_paddr: U64::default(),
            p_filesz: U64::new(Le, self.length()),
            p_memsz: U64::new(Le, self.end - self.begin),
            p_align: U64::new(Le, PAGE),
        }
    }

    /// Copies it to where the file is. What cannot be read, and pages of zeros, become holes.
    pub(super) fn copy(&self, memory: &Memory, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut buffer = [0; PART];
        let end = self.begin + self.length();
        let mut at = self.begin;
        while at < end {
            let part = &mut buffer[..PART.min(usize::try_from(end - at).unwrap_or(PART))];
            let is_wanted = self.content != Content::Used || memory.is_used(at, part.len());
            if is_wanted && memory.read(at, part) && part.iter().any(|byte| *byte != 0) {
                out.write_all(part)?;
            } else {
                out.seek_relative(part.len() as i64)?;
            }
            at += part.len() as u64;
        }
        Ok(())
    }
}

/// The memory of a process that is stopped.
#[derive(Debug)]
pub(super) struct Memory {
    content: File,
    /// Which pages it has used: Documentation/admin-guide/mm/pagemap.rst.
    pages: File,
}

impl Memory {
    pub(super) fn open(process: i32) -> io::Result<Self> {
        let open = |name: &str| File::open(format!("/proc/{process}/{name}"));
        Ok(Self { content: open("mem")?, pages: open("pagemap")? })
    }

    fn read(&self, address: u64, part: &mut [u8]) -> bool {
        self.content.read_exact_at(part, address).is_ok()
    }

    /// Whether a page of a part is in memory or in swap. Reading the others would only make them.
    fn is_used(&self, address: u64, length: usize) -> bool {
        let mut entries = [0; PART / PAGE as usize * ENTRY];
        let entries = &mut entries[..length.div_ceil(PAGE as usize) * ENTRY];
        if self.pages.read_exact_at(entries, address / PAGE * ENTRY as u64).is_err() {
            return true;
        }
        // Bits 63 and 62 of an entry are in its last byte.
        entries.chunks_exact(ENTRY).any(|entry| entry[ENTRY - 1] & 0xc0 != 0)
    }
}
