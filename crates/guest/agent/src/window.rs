//! Makes the files that the host sends to a machine that is up: they lie in memory of a PCI device, which no driver
//! needs to know.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use protocol::window::{DEVICE, Entry, Extent, Kind, RECORDING, TABLE, decode};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::root;

/// Where the kernel shows PCI devices.
const DEVICES: &str = "/sys/bus/pci/devices";

/// The file of a device by which its third range of memory is mapped.
const MEMORY: &str = "resource2";

/// What a mapping is made of.
const PAGE: usize = 4096;

/// Whether the host can send files, which a kernel without PCI or one that is locked down does not allow. From here on the
/// device answers.
pub(crate) fn is_there() -> bool {
    find().is_some_and(|path| {
        // Not every firmware switches on what no driver asks for: Documentation/PCI/sysfs-pci.rst.
        let _ = fs::write(path.with_file_name("enable"), "1");
        Mapping::new(&path, PAGE).is_ok()
    })
}

/// Makes files that lie in the window, by the ranges of their entries; the error is for people.
pub(crate) fn unpack(ranges: &[(u32, u32)]) -> Result<(), String> {
    let path = find().ok_or("this machine has no window for programs")?;
    let failed = |error: Errno| format!("{}: {}", path.display(), harness::check::describe(error));
    let extent = Extent::read(Mapping::new(&path, PAGE).map_err(failed)?.bytes())
        .ok_or("what the host sent is damaged: it has no header")?;
    let mapping = Mapping::new(&path, extent.total).map_err(failed)?;
    make_all(mapping.bytes(), extent, ranges, Path::new("/"))
}

/// The memory of the device, if programs leave the part for a recording free; else why not.
pub(crate) fn for_recording() -> Result<PathBuf, String> {
    let path = find().ok_or("this machine has no window, and so no memory for a recording")?;
    let mapping = Mapping::new(&path, PAGE).map_err(harness::check::describe)?;
    let is_free = Extent::read(mapping.bytes()).is_none_or(|extent| extent.total <= RECORDING);
    if is_free {
        Ok(path)
    } else {
        Err("the programs of this machine leave no memory for a recording".to_owned())
    }
}

/// The memory of the device, if there is one.
fn find() -> Option<PathBuf> {
    let holds = |device: &Path, file: &str, id: &str| {
        fs::read_to_string(device.join(file)).is_ok_and(|text| text.trim() == id)
    };
    let [vendor, device] = DEVICE;
    let all = fs::read_dir(DEVICES).ok()?.flatten().map(|entry| entry.path());
    all.filter(|path| holds(path, "device", device) && holds(path, "vendor", vendor))
        .map(|path| path.join(MEMORY))
        .next()
}

/// Memory of the device, mapped as long as this lives.
struct Mapping {
    memory: *mut u8,
    length: usize,
}

impl Mapping {
    fn new(path: &Path, length: usize) -> Result<Self, Errno> {
        let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let length = length.next_multiple_of(PAGE);
        // SAFETY: a new mapping at an address that the kernel chooses; it is unmapped when this is dropped.
        let memory = unsafe {
            mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file.as_fd(), 0)?
        };
        Ok(Self { memory: memory.cast(), length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: within the mapping, which nobody in this machine writes to while its agent is at work.
        unsafe { std::slice::from_raw_parts(self.memory, self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no slice of it outlives it.
        let _ = unsafe { munmap(self.memory.cast(), self.length) };
    }
}

/// Makes files of a window below `root`.
fn make_all(window: &[u8], extent: Extent, ranges: &[(u32, u32)], root: &Path) -> Result<(), String> {
    let table = window.get(TABLE..TABLE + extent.table).and_then(|bytes| decode(bytes).ok());
    let table = table.ok_or("what the host sent is damaged: it has no table")?;
    let entries = ranges.iter().map(|&(start, end)| table.get(start as usize..end as usize));
    let entries: Option<Vec<&[Entry]>> = entries.collect();
    let entries = entries.ok_or("what the host sent is damaged: its table is too short")?.concat();
    let (needed, free) =
        (entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(size(entry))), free_memory());
    if needed > free {
        return Err(format!(
            "the files take {} MiB, and the machine has {} MiB of memory left: --memory gives it more",
            needed.div_ceil(1 << 20),
            free >> 20
        ));
    }
    entries.iter().try_for_each(|entry| make(window, entry, root))
}

/// Bytes that an entry takes.
fn size(entry: &Entry) -> u64 {
    if let Kind::File { length, .. } = entry.kind { length } else { 0 }
}

/// Bytes of memory that nobody uses.
fn free_memory() -> u64 {
    let system = rustix::system::sysinfo();
    (system.freeram as u64).saturating_mul(u64::from(system.mem_unit))
}

fn make(window: &[u8], entry: &Entry, root: &Path) -> Result<(), String> {
    if let Some(path) = root::path_inside(&entry.path) {
        return make_inside(window, entry, path);
    }
    let path = root.join(entry.path.trim_start_matches('/'));
    let made = match &entry.kind {
        Kind::Directory => fs::create_dir(&path),
        Kind::Link(target) => std::os::unix::fs::symlink(target, &path),
        Kind::File { permissions, start, length } => {
            write(&path, *permissions, whole(window, entry, *start, *length)?)
        }
    };
    match made {
        // What was there first is kept.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(format!("{}: {error}", entry.path)),
        Ok(()) => Ok(()),
    }
}

/// Makes a file of the root.
fn make_inside(window: &[u8], entry: &Entry, path: &str) -> Result<(), String> {
    match &entry.kind {
        Kind::Directory => root::make_file(|inside| inside.directory(path).map(drop)),
        Kind::Link(target) => root::make_file(|inside| inside.link(path, target)),
        Kind::File { permissions, start, length } => {
            let content = whole(window, entry, *start, *length)?;
            root::make_file(|inside| inside.write_absent(path, content, *permissions));
        }
    }
    Ok(())
}

/// The content of an entry.
fn whole<'w>(window: &'w [u8], entry: &Entry, start: u64, length: u64) -> Result<&'w [u8], String> {
    let cut = || format!("what the host sent is damaged: {} is cut off", entry.path);
    content(window, start, length).ok_or_else(cut)
}

fn content(window: &[u8], start: u64, length: u64) -> Option<&[u8]> {
    let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
    window.get(start..start.checked_add(length)?)
}

fn write(path: &Path, permissions: u32, content: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?);
    file.write_all(content)?;
    Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(permissions & 0o777))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use protocol::window::encode;
    use std::os::unix::fs::PermissionsExt;

    fn entry(path: &str, kind: Kind) -> Entry {
        Entry { path: path.into(), kind }
    }

    /// A window with these entries and one page of content, all `x`.
    fn window(table: &[Entry]) -> (Vec<u8>, Extent) {
        let bytes = encode(table).expect("plain data");
        let extent = Extent { table: bytes.len(), total: 2 * PAGE };
        let mut window = [extent.header(), bytes].concat();
        window.resize(2 * PAGE, b'x');
        (window, extent)
    }

    fn file(start: u64, length: u64) -> Kind {
        Kind::File { permissions: 0o750, start, length }
    }

    #[test]
    fn all_kinds_are_made_and_what_was_there_is_kept() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("init"), "agent").unwrap();
        let table = [
            entry("/usr", Kind::Directory),
            entry("/usr/x", file(PAGE as u64, 3)),
            entry("/usr/y", Kind::Link("/usr/x".into())),
            entry("/init", file(PAGE as u64, 3)),
            entry("/usr", Kind::Directory),
        ];
        let (window, extent) = window(&table);
        make_all(&window, extent, &[(0, 2), (2, 5)], scratch.path()).unwrap();
        assert_eq!(fs::read(scratch.path().join("usr/x")).unwrap(), b"xxx");
        assert_eq!(fs::metadata(scratch.path().join("usr/x")).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(fs::read_link(scratch.path().join("usr/y")).unwrap(), Path::new("/usr/x"));
        assert_eq!(fs::read(scratch.path().join("init")).unwrap(), b"agent");
    }

    #[test]
    fn only_what_was_asked_for_is_made() {
        let scratch = tempfile::tempdir().unwrap();
        let table = ["/a", "/b", "/c", "/d"].map(|path| entry(path, file(PAGE as u64, 1)));
        let (window, extent) = window(&table);
        make_all(&window, extent, &[(0, 1), (2, 4)], scratch.path()).unwrap();
        let exists = |name: &str| scratch.path().join(name).exists();
        assert_eq!(["a", "b", "c", "d"].map(exists), [true, false, true, true]);
    }

    #[test]
    fn what_is_damaged_or_too_large_is_reported() {
        let scratch = tempfile::tempdir().unwrap();
        let cut = entry("/cut", file(2 * PAGE as u64 - 1, 2));
        let (bytes, extent) = window(&[cut]);
        let error =
            |bytes: &[u8], extent, end| make_all(bytes, extent, &[(0, end)], scratch.path()).unwrap_err();
        assert_eq!(error(&bytes, extent, 1), "what the host sent is damaged: /cut is cut off");
        assert_eq!(error(&bytes, extent, 2), "what the host sent is damaged: its table is too short");
        let no_table = Extent { table: usize::MAX - TABLE, ..extent };
        assert!(error(&bytes, no_table, 1).ends_with("it has no table"));
        assert!(error(&[], extent, 1).ends_with("it has no table"));
        let huge = window(&[entry("/huge", file(0, u64::MAX))]);
        let text = error(&huge.0, huge.1, 1);
        assert!(text.contains(" MiB, and the machine has "), "{text}");
        let nowhere = window(&[entry("/no/such/directory", Kind::Directory)]);
        assert!(error(&nowhere.0, nowhere.1, 1).starts_with("/no/such/directory: "));
    }

    proptest! {
        #[test]
        fn any_range_is_taken_without_panic(start: u64, length: u64) {
            let found = content(b"0123456789", start, length);
            prop_assert!(found.is_none_or(|bytes| bytes.len() as u64 == length));
        }
    }
}
