//! Files that are mapped into a process.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framehop::Module;
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

use crate::code::{Code, Library};
use crate::vdso;

/// Most mappings that are looked at: a process may have 65,530 and more.
const MAPS_MAX: usize = 65_536;

/// A file whose code is mapped into a process.
#[derive(Debug, Clone)]
pub struct Image {
    /// Its name in the process.
    pub(crate) name: Arc<str>,
    pub(crate) code: Arc<Code>,
    /// Where its code is in memory.
    pub(crate) addresses: Range<u64>,
    /// What an address in memory is more than that in the file; modulo 2^64.
    pub(crate) bias: u64,
}

impl Image {
    /// A file of which the part that begins at this offset is mapped.
    #[must_use]
    pub fn new(name: &str, code: Arc<Code>, addresses: Range<u64>, offset: u64) -> Option<Self> {
        let bias = addresses.start.wrapping_sub(code.address_of(offset)?);
        Some(Self { name: name.into(), code, addresses, bias })
    }

    /// What is mapped into a process under a name, from this offset of the file on; nothing if it has no code that can be read.
    pub fn mapped(
        process: i32,
        name: &str,
        addresses: Range<u64>,
        offset: u64,
        library: &mut Library,
    ) -> Option<Self> {
        let file = match name {
            vdso::NAME => vdso::file()?,
            _ => file(process, &addresses, name)?,
        };
        Self::new(name, library.read(file, Path::new(name))?, addresses, offset)
    }

    /// The file.
    #[must_use]
    pub fn code(&self) -> &Arc<Code> {
        &self.code
    }

    /// Its name in the process.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How its functions return.
    pub(crate) fn module(&self) -> Module<Arc<[u8]>> {
        let sections = self.code.sections.clone();
        Module::new(self.name.to_string(), self.addresses.clone(), self.bias, sections)
    }
}

/// The files with code of a process.
pub(crate) fn images(process: i32, library: &mut Library) -> Vec<Image> {
    let maps = Process::new(process).and_then(|process| process.maps());
    let maps = maps.into_iter().flatten().take(MAPS_MAX);
    maps.filter(|map| map.perms.contains(MMPermissions::EXECUTE))
        .filter_map(|map| image(process, &map, library))
        .collect()
}

fn image(process: i32, map: &MemoryMap, library: &mut Library) -> Option<Image> {
    let addresses = map.address.0..map.address.1;
    let name = match &map.pathname {
        MMapPath::Vdso => vdso::NAME.into(),
        MMapPath::Path(name) => name.to_string_lossy(),
        _ => return None,
    };
    Image::mapped(process, &name, addresses, map.offset, library)
}

/// The file itself, also if it is gone or the process sees other files, as long as the process lives; later what has its name now.
fn file(process: i32, addresses: &Range<u64>, name: &str) -> Option<File> {
    let name = Path::new(name).strip_prefix("/").ok()?;
    let mapped =
        PathBuf::from(format!("/proc/{process}/map_files/{:x}-{:x}", addresses.start, addresses.end));
    let seen = Path::new("/proc").join(process.to_string()).join("root").join(name);
    // What is no file is not opened: a device may do anything then.
    let open = |path: &PathBuf| path.is_file().then(|| File::open(path).ok()).flatten();
    [mapped, seen, Path::new("/").join(name)].iter().find_map(open)
}
