//! From a place in a function, as a kernel prints it, to the line of its source.
//!
//! * [`table`]: where functions are
//! * [`source`]: paths below the tree that the kernel was built from

mod source;
mod table;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, Error as DwarfError, LittleEndian, SectionId};

use crate::arch::Arch;
use crate::elf::Elf;
use crate::files::{self, Limit};
use crate::kernel::Kernel;
use crate::tree::BZ_IMAGE;
use table::Table;

/// The largest vmlinux that is read; those of distributions have some hundred MiB.
const VMLINUX: Limit = Limit { what: "a vmlinux", bytes: 1 << 30 };

/// Most functions that one address may be inlined into.
const DEPTH_MAX: usize = 32;

/// The sections that lines and inlined functions come from.
const NEEDED: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

type Bytes = EndianArcSlice<LittleEndian>;

/// A place in a function, as `%pS` of printk has it: `pipe_read+0x12/0x340`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Its symbol.
    pub function: String,
    /// Bytes from its begin.
    pub offset: u64,
    /// Its size in bytes, by which functions of one name are told apart.
    pub size: u64,
}

/// A line of source at which a place is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The function, which may be inlined in the one of the next frame.
    pub function: String,
    /// The file, below the tree that the kernel was built from.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The symbols and lines of a vmlinux, which is read when something is looked up for the first time.
pub struct Symbols {
    path: PathBuf,
    opened: OnceCell<Option<Opened>>,
}

struct Opened {
    table: Table,
    lines: Context<Bytes>,
    /// Where the tree was when the kernel was built.
    root: Option<String>,
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbols").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Symbols {
    /// Those of the vmlinux at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), opened: OnceCell::new() }
    }

    /// Those of a Kernel whose vmlinux is at hand: where a build leaves it, beside the image, or where packages
    /// of symbols have it.
    #[must_use]
    pub fn of(kernel: &Kernel) -> Option<Self> {
        let places = match kernel.arch {
            Arch::Um => vec![kernel.image.clone()],
            Arch::X86_64 => places(&kernel.image, kernel.release.as_deref().unwrap_or_default()),
        };
        places.iter().find(|place| place.is_file()).map(|place| Self::new(place))
    }

    /// The lines at an address, given by its distance in bytes from where the kernel's text begins, those of inlined functions
    /// first; none without debugging information.
    #[must_use]
    pub fn frames_in_text(&self, distance: u64) -> Vec<Frame> {
        self.opened().and_then(|opened| opened.frames_in_text(distance)).unwrap_or_default()
    }

    /// The lines at `place`, those of inlined functions first. There are none without debugging information
    /// (compressed is not read), or if this is not the vmlinux that `place` is of.
    #[must_use]
    pub fn frames(&self, place: &Place) -> Vec<Frame> {
        self.opened().map(|opened| opened.frames(place)).unwrap_or_default()
    }

    fn opened(&self) -> Option<&Opened> {
        let read = || Opened::read(&files::read(&self.path, VMLINUX).ok()?);
        self.opened.get_or_init(read).as_ref()
    }
}

/// Where the vmlinux of an image may be.
fn places(image: &Path, release: &str) -> Vec<PathBuf> {
    let directory = image.parent().unwrap_or(Path::new("."));
    let named = format!("vmlinux-{release}");
    let tree = image.ends_with(BZ_IMAGE).then(|| directory.join("../../../vmlinux"));
    let others = [
        directory.join(&named),
        directory.join("vmlinux"),
        directory.join("../vmlinux"),
        Path::new("/usr/lib/debug/boot").join(&named),
        Path::new("/usr/lib/debug/lib/modules").join(release).join("vmlinux"),
    ];
    tree.into_iter().chain(others).collect()
}

impl Opened {
    fn read(content: &[u8]) -> Option<Self> {
        let elf = Elf::parse(content).filter(Elf::is_x86_64)?;
        let dwarf = Dwarf::load(|id| {
            let section = elf.section(id.name()).ok().flatten().filter(|_| NEEDED.contains(&id));
            Ok::<_, DwarfError>(EndianArcSlice::new(Arc::from(section.unwrap_or_default()), LittleEndian))
        });
        let (table, lines) = (Table::read(&elf)?, Context::from_dwarf(dwarf.ok()?).ok()?);
        let mut opened = Self { table, lines, root: None };
        opened.root = opened.find_root();
        Some(opened)
    }

    /// Every kernel has this function, and everybody knows its file.
    fn find_root(&self) -> Option<String> {
        let frames = self.at(self.table.named("start_kernel")?);
        frames.last()?.file.strip_suffix("init/main.c").map(str::to_string)
    }

    fn frames(&self, place: &Place) -> Vec<Frame> {
        let Some(start) = self.table.address(&place.function, place.size) else { return Vec::new() };
        if place.offset > place.size {
            return Vec::new();
        }
        start.checked_add(place.offset).map(|address| self.in_tree(address)).unwrap_or_default()
    }

    /// The symbol is where every kernel's text begins.
    fn frames_in_text(&self, distance: u64) -> Option<Vec<Frame>> {
        Some(self.in_tree(self.table.named("_text")?.checked_add(distance)?))
    }

    /// The lines at `address`, with files below the tree.
    fn in_tree(&self, address: u64) -> Vec<Frame> {
        let mut frames = self.at(address);
        for frame in &mut frames {
            frame.file = source::below(self.root.as_deref(), &frame.file);
        }
        frames
    }

    fn at(&self, address: u64) -> Vec<Frame> {
        let Ok(mut found) = self.lines.find_frames(address).skip_all_loads() else { return Vec::new() };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next()
            && frames.len() < DEPTH_MAX
        {
            let function = frame.function.and_then(|name| Some(name.raw_name().ok()?.into_owned()));
            let location = frame.location.and_then(|at| Some((source::normal(at.file?), at.line?)));
            if let (Some(function), Some((file, line))) = (function, location) {
                frames.push(Frame { function, file, line });
            }
        }
        frames
    }
}

#[cfg(test)]
mod tests;
