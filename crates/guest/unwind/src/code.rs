//! Files with code: programs and libraries.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use object::{Object, ObjectSection, ObjectSegment, ReadCache, ReadRef};

/// Its device, inode and time of change: a job may build a program again and again.
pub(crate) type Identity = (u64, u64, i64);

/// How functions of a file return.
type Sections = ExplicitModuleSectionInfo<Arc<[u8]>>;

/// A file with code.
#[derive(Debug)]
pub struct Code {
    /// Where it can be read as long as this lives.
    path: PathBuf,
    /// The file itself, if nothing else keeps it.
    _held: Option<File>,
    pub(crate) identity: Identity,
    /// Where its debug information is, if that is another file.
    debug: Option<PathBuf>,
    segments: Vec<Segment>,
    pub(crate) sections: Sections,
}

/// A part of a file that is mapped.
#[derive(Debug)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

/// The files that were read: each once, however many processes have it.
#[derive(Debug, Default)]
pub struct Library {
    all: HashMap<Identity, Option<Arc<Code>>>,
}

impl Library {
    /// A file that may be here under this name, too; nothing if it is no program or library, or cannot be read.
    pub fn read(&mut self, file: File, name: &Path) -> Option<Arc<Code>> {
        let identity = identity(&file.metadata().ok()?)?;
        self.all.entry(identity).or_insert_with(|| Code::read(file, name, identity).map(Arc::new)).clone()
    }
}

fn identity(metadata: &Metadata) -> Option<Identity> {
    let changed = metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec());
    metadata.is_file().then(|| (metadata.dev(), metadata.ino(), changed))
}

impl Code {
    /// Reads only what is needed of it.
    fn read(file: File, name: &Path, identity: Identity) -> Option<Self> {
        let cache = ReadCache::new(file.try_clone().ok()?);
        let object = object::File::parse(&cache).ok()?;
        let segment = |segment: object::Segment<'_, '_, _>| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        };
        let is_here = fs::metadata(name).is_ok_and(|metadata| self::identity(&metadata) == Some(identity));
        let (path, held) = if is_here {
            (name.to_owned(), None)
        } else {
            (PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())), Some(file))
        };
        Some(Self {
            path,
            _held: held,
            identity,
            debug: debug_file(&object),
            segments: object.segments().map(segment).collect(),
            sections: sections(&object),
        })
    }

    /// The address that the file has for what is at this place in it.
    pub(crate) fn address_of(&self, offset: u64) -> Option<u64> {
        let holds = |segment: &&Segment| {
            (segment.offset..segment.offset.saturating_add(segment.size)).contains(&offset)
        };
        // The kernel maps whole pages, so a mapping may begin before its segment.
        let begins = |segment: &&Segment| segment.offset & !0xfff == offset;
        let segment = self.segments.iter().find(begins).or_else(|| self.segments.iter().find(holds))?;
        Some(segment.address.wrapping_add(offset.wrapping_sub(segment.offset)))
    }

    /// Where its functions may be named: the best source first.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.debug.as_deref().into_iter().chain([self.path.as_path()])
    }
}

fn sections<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> Sections {
    let data = |name: &str| object.section_by_name(name)?.data().ok().map(Arc::from);
    let range = |name: &str| -> Option<Range<u64>> {
        let section = object.section_by_name(name)?;
        Some(section.address()..section.address().checked_add(section.size())?)
    };
    Sections {
        text_svma: range(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        debug_frame: data(".debug_frame"),
        ..Sections::default()
    }
}

/// Where distributions put the debug information of a file: by its build ID.
fn debug_file<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> Option<PathBuf> {
    let id = object.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = PathBuf::from(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug"));
    path.exists().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_and_knows_its_addresses() {
        let mut library = Library::default();
        let this = std::env::current_exe().expect("it runs");
        let mut read = || library.read(File::open(&this).expect("it is there"), &this).expect("a program");
        let code = read();
        assert!(Arc::ptr_eq(&code, &read()));
        let executable = code.segments.iter().find(|segment| segment.size > 0).expect("a segment");
        assert_eq!(code.address_of(executable.offset), Some(executable.address));
        assert_eq!(code.address_of(u64::MAX), None);
        assert!(code.sections.eh_frame.is_some());
        assert_eq!(code.path, this);
    }

    #[test]
    fn a_file_that_has_no_name_here_is_held() {
        let this = std::env::current_exe().expect("it runs");
        let file = File::open(&this).expect("it is there");
        let code = Library::default().read(file, Path::new("/nowhere")).expect("a program");
        assert!(object::File::parse(&*fs::read(&code.path).expect("it is held")).is_ok());
    }

    #[test]
    fn what_is_no_program_has_no_code() {
        let mut library = Library::default();
        for path in ["/proc/self/maps", "/", "/dev/zero", "/etc/passwd"] {
            let file = File::open(path).expect("it is there");
            assert!(library.read(file, Path::new(path)).is_none(), "{path}");
        }
    }
}
