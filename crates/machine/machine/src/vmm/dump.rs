//! Dumps of the memory of a machine whose kernel crashed or hangs.

use std::path::{Path, PathBuf};

use host::free_mib;
use protocol::window::WINDOW_SIZE;

use super::Driver;

/// The memory of the window's device, which QEMU writes as well, in MiB.
const WINDOW_MIB: u64 = (WINDOW_SIZE >> 20) as u64;

/// Space that must be left beside a dump, in MiB.
const SPACE_MIN: u64 = 64;

/// Most that the dumps of a session take, in MiB: what sessions may take together.
const ALL_MIB: u64 = 8 << 10;

/// Deepest folder in which dumps of a session are looked for.
const DEPTH_MAX: usize = 16;

/// Where dumps go, and what became of them.
#[derive(Debug)]
pub(super) struct Dumps {
    folder: PathBuf,
    memory_mib: u64,
    name: String,
    /// What became of the last one, in words.
    note: Option<String>,
}

impl Dumps {
    /// Dumps of a machine with this much memory, which boots.
    pub(super) fn new(folder: PathBuf, memory_mib: u64) -> Self {
        Self { folder, memory_mib, name: "boot".to_string(), note: None }
    }

    /// From now on they have this name.
    pub(super) fn rename(&mut self, name: &str) {
        self.name = name.to_string();
        self.note = None;
    }

    pub(super) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// Makes one.
    pub(super) fn make(&mut self, driver: &mut dyn Driver) {
        let path = self.folder.join(format!("{}.vmcore", self.name));
        self.note = Some(match self.write(&path, driver) {
            Ok(()) => format!("memory dump: {}", path.display()),
            Err(why) => format!("no memory dump: {why}"),
        });
    }

    /// Why there is no room for one, where so many MiB are free.
    fn refusal(&self, free: u64) -> Option<String> {
        let (size, taken) = (self.memory_mib + WINDOW_MIB, taken_mib(&self.folder, DEPTH_MAX));
        let needed = size + SPACE_MIN;
        if free < needed {
            return Some(format!("it needs {needed} MiB, and {free} MiB are free"));
        }
        let is_too_much = taken + size > ALL_MIB;
        is_too_much
            .then(|| format!("those of this session take {taken} MiB, and all together at most {ALL_MIB}"))
    }

    fn write(&self, path: &Path, driver: &mut dyn Driver) -> Result<(), String> {
        if path.exists() {
            return Err(format!("{} already exists", path.display()));
        }
        self.refusal(free_mib(path).unwrap_or(0)).map_or(Ok(()), Err)?;
        let folder = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // It gets its name when it is whole.
        let part = path.with_extension("vmcore.part");
        let named = || std::fs::rename(&part, path).map_err(|error| format!("{}: {error}", path.display()));
        let written = driver.dump(&part).and_then(|()| named());
        if written.is_err() {
            // Half a dump is of no use; there may be none at all.
            let _ = std::fs::remove_file(&part);
        }
        written
    }
}

/// What the dumps below a folder take on the disk, in MiB.
fn taken_mib(folder: &Path, depth: usize) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_entry = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() && depth > 0 => taken_mib(&entry.path(), depth - 1),
        Ok(found) if entry.path().extension() == Some("vmcore".as_ref()) => (found.blocks() * 512) >> 20,
        _ => 0,
    };
    entries.map(of_entry).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::Console;

    use crate::Death;
    use crate::vmm::Provocation;
    use crate::vmm::process::{Exit, Process};

    /// Writes half a dump and fails, or a whole one.
    #[derive(Debug)]
    struct Fake(Result<(), String>);

    impl Driver for Fake {
        fn death(&mut self, _console: &Console, _exit: &Exit) -> Death {
            Death::Reset
        }

        fn examine(&mut self, _process: &Process) -> Vec<String> {
            Vec::new()
        }

        fn provoke(&mut self, _how: Provocation) -> bool {
            false
        }

        fn dump(&mut self, path: &Path) -> Result<(), String> {
            std::fs::write(path, "memory").unwrap();
            self.0.clone()
        }
    }

    #[test]
    fn a_dump_is_named_after_what_ran_and_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut dumps = Dumps::new(folder.path().join("cases"), 1);
        dumps.rename("fs/case");
        assert_eq!(dumps.note(), None);
        dumps.make(&mut Fake(Ok(())));
        let path = folder.path().join("cases/fs/case.vmcore");
        assert_eq!(dumps.note(), Some(format!("memory dump: {}", path.display())));
        assert_eq!(std::fs::read(&path).unwrap(), b"memory");
        dumps.make(&mut Fake(Ok(())));
        assert_eq!(dumps.note(), Some(format!("no memory dump: {} already exists", path.display())));
    }

    #[test]
    fn the_dumps_of_a_session_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("fs")).unwrap();
        std::fs::write(folder.path().join("fs/a.vmcore"), vec![1; 3 << 20]).unwrap();
        std::fs::write(folder.path().join("fs/a.json"), vec![1; 1 << 20]).unwrap();
        let mut dumps = Dumps::new(folder.path().to_path_buf(), ALL_MIB - WINDOW_MIB - 3);
        let why = dumps.refusal(u64::MAX);
        assert_eq!(why, None);
        dumps.memory_mib += 1;
        let why = dumps.refusal(u64::MAX).unwrap();
        assert!(why.starts_with("those of this session take 3 MiB"), "{why}");
    }

    #[test]
    fn half_a_dump_is_removed_and_one_without_room_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let mut dumps = Dumps::new(folder.path().to_path_buf(), 1);
        dumps.make(&mut Fake(Err("no space".to_string())));
        assert_eq!(dumps.note(), Some("no memory dump: no space".to_string()));
        let mut dumps = Dumps::new(folder.path().to_path_buf(), 1 << 40);
        dumps.make(&mut Fake(Ok(())));
        assert!(dumps.note().is_some_and(|note| note.contains(" MiB are free")), "{dumps:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
