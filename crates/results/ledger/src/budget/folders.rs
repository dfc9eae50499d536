//! Folders of measurements, comparisons and bisections: the oldest goes first. The newest stays, and so does one whose journal
//! is open, or whose request somebody still works on.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Limits, remove};
use crate::figures::REQUEST;
use crate::files::files;
use crate::journal::{JOURNAL, Journal};
use crate::lock;
use crate::looks::modified;

/// A folder that kiln made.
struct Folder {
    path: PathBuf,
    changed: SystemTime,
    bytes: u64,
}

/// Removes folders below `root` until they are within the limits; gives the bytes that were freed.
pub(super) fn keep_within(root: &Path, limits: Limits) -> u64 {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut all: Vec<Folder> = entries.filter_map(|entry| Folder::of(entry.path())).collect();
    all.sort_by(|one, other| (one.changed, &one.path).cmp(&(other.changed, &other.path)));
    all.pop();
    let (mut bytes, mut count) = (all.iter().map(|folder| folder.bytes).sum::<u64>(), all.len() + 1);
    let mut freed = 0;
    for folder in all {
        if bytes <= limits.bytes && count <= limits.folders {
            break;
        }
        let gone = if folder.is_open() { 0 } else { remove(root, &folder.path, folder.bytes) };
        if gone > 0 {
            (bytes, count, freed) = (bytes.saturating_sub(folder.bytes), count - 1, freed + gone);
        }
    }
    freed
}

impl Folder {
    fn of(path: PathBuf) -> Option<Self> {
        let is_kilns = path.join(format!("{REQUEST}.json")).is_file() || path.join(JOURNAL).is_file();
        let files = files(&path);
        let changed = files.iter().filter_map(|(file, _)| modified(file)).max()?;
        is_kilns.then(|| Self { path, changed, bytes: files.iter().map(|(_, bytes)| bytes).sum() })
    }

    /// A bisection or a check writes there.
    fn is_open(&self) -> bool {
        Journal::is_open(&self.path) || lock::is_taken(&self.path.join(format!("{REQUEST}.json")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// Folders with a MiB each, from the oldest on.
    fn folders(root: &Path, names: &[&str]) {
        for (age, name) in names.iter().rev().enumerate() {
            let folder = root.join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("request.json"), vec![b' '; 1 << 20]).unwrap();
            let file = File::options().write(true).open(folder.join("request.json")).unwrap();
            let hour = std::time::Duration::from_secs(3600);
            file.set_modified(SystemTime::now() - hour * u32::try_from(age + 1).unwrap()).unwrap();
        }
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(root).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_goes_first_and_what_is_open_or_newest_or_the_users_stays() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path();
        folders(path, &["z", "y", "x", "w"]);
        std::fs::create_dir(path.join("mine")).unwrap();
        std::fs::write(path.join("noise.json"), "{}").unwrap();
        assert_eq!(keep_within(path, Limits { bytes: u64::MAX, folders: 9 }), 0);
        assert!(keep_within(path, Limits { bytes: u64::MAX, folders: 3 }) >= 1 << 20);
        assert_eq!(names(path), ["mine", "noise.json", "w", "x", "y"]);
        let (journal, _) = Journal::open::<u32>(&path.join("v")).unwrap();
        folders(path, &["u"]);
        let hours = std::time::Duration::from_secs(2 * 3600);
        let file = File::options().write(true).open(path.join("v").join(JOURNAL)).unwrap();
        file.set_modified(SystemTime::now() - hours).unwrap();
        keep_within(path, Limits { bytes: 0, folders: 0 });
        assert_eq!(names(path), ["mine", "noise.json", "u", "v"]);
        let request = File::open(path.join("u/request.json")).unwrap();
        request.lock().unwrap();
        folders(path, &["t"]);
        keep_within(path, Limits { bytes: 0, folders: 0 });
        assert_eq!(names(path), ["mine", "noise.json", "t", "u", "v"]);
        drop((journal, request));
        keep_within(path, Limits { bytes: u64::MAX, folders: 1 });
        assert_eq!(names(path), ["mine", "noise.json", "t"]);
    }
}
