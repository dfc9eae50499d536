//! Files that are mapped into a process.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use framehop::{ExplicitModuleSectionInfo, Module};
use object::{Object, ObjectSection, ObjectSegment, ReadCache, ReadRef};
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

/// Most mappings that are looked at: a process may have 65,530 and more.
const MAPS_MAX: usize = 65_536;

/// A file whose code is mapped into a process.
#[derive(Debug, Clone)]
pub(super) struct Image {
    /// Its name in the process.
    pub(super) name: String,
    /// Where it can be read.
    pub(super) path: PathBuf,
    /// Where its code is in memory.
    pub(super) addresses: Range<u64>,
    /// What an address in memory is more than that in the file; modulo 2^64.
    pub(super) bias: u64,
    /// Its device, inode and time of change: a job may build a program again and again.
    pub(super) identity: (u64, u64, i64),
    /// Where its debug information is, if that is another file.
    pub(super) debug: Option<PathBuf>,
}

/// The files with code of a process.
pub(super) fn images(process: i32) -> Vec<Image> {
    let maps = Process::new(process).and_then(|process| process.maps());
    let maps = maps.into_iter().flatten().take(MAPS_MAX);
    maps.filter(|map| map.perms.contains(MMPermissions::EXECUTE))
        .filter_map(|map| image(process, &map))
        .collect()
}

fn image(process: i32, map: &MemoryMap) -> Option<Image> {
    let MMapPath::Path(name) = &map.pathname else { return None };
    let path = readable(process, map, name);
    let (vaddr, debug) = with_object(&path, |object| {
        let holds = |segment: &object::Segment<'_, '_, _>| {
            let (offset, size) = segment.file_range();
            (offset..offset.saturating_add(size)).contains(&map.offset)
        };
        // The kernel maps whole pages, so a mapping may begin before its segment.
        let begins = |segment: &object::Segment<'_, '_, _>| segment.file_range().0 & !0xfff == map.offset;
        let segment = object.segments().find(begins).or_else(|| object.segments().find(holds))?;
        let vaddr = segment.address().wrapping_add(map.offset.wrapping_sub(segment.file_range().0));
        Some((vaddr, debug_file(object)))
    })??;
    let metadata = fs::metadata(&path).ok()?;
    let changed = metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec());
    Some(Image {
        identity: (metadata.dev(), metadata.ino(), changed),
        name: name.display().to_string(),
        path,
        addresses: map.address.0..map.address.1,
        bias: map.address.0.wrapping_sub(vaddr),
        debug,
    })
}

/// The file itself, also if it is gone or the process sees other files.
fn readable(process: i32, map: &MemoryMap, name: &Path) -> PathBuf {
    let mapped = PathBuf::from(format!("/proc/{process}/map_files/{:x}-{:x}", map.address.0, map.address.1));
    if File::open(&mapped).is_ok() {
        return mapped;
    }
    PathBuf::from(format!("/proc/{process}/root{}", name.display()))
}

/// Where distributions put the debug information of a file: by its build ID.
fn debug_file<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> Option<PathBuf> {
    let id = object.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = PathBuf::from(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug"));
    path.exists().then_some(path)
}

/// What can be said of a file that is a program or a library; only what is needed of it is read.
fn with_object<T>(path: &Path, say: impl FnOnce(&object::File<'_, &ReadCache<File>>) -> T) -> Option<T> {
    let cache = ReadCache::new(File::open(path).ok()?);
    Some(say(&object::File::parse(&cache).ok()?))
}

impl Image {
    /// How its functions return.
    pub(super) fn module(&self) -> Option<Module<Vec<u8>>> {
        let info = with_object(&self.path, |object| {
            let data = |name: &str| object.section_by_name(name)?.data().ok().map(<[u8]>::to_vec);
            let range = |name: &str| {
                let section = object.section_by_name(name)?;
                Some(section.address()..section.address().checked_add(section.size())?)
            };
            ExplicitModuleSectionInfo {
                text_svma: range(".text"),
                got_svma: range(".got"),
                eh_frame_svma: range(".eh_frame"),
                eh_frame: data(".eh_frame"),
                eh_frame_hdr_svma: range(".eh_frame_hdr"),
                eh_frame_hdr: data(".eh_frame_hdr"),
                debug_frame: data(".debug_frame"),
                ..ExplicitModuleSectionInfo::default()
            }
        })?;
        Some(Module::new(self.name.clone(), self.addresses.clone(), self.bias, info))
    }
}
