//! Files that an experiment keeps with its results, and which roots its machines had.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use judge::Blame;
use kernel::files::{self, Limit};
use root::Root;
use script::{ErrorName, Trouble};

/// Files that an experiment can keep.
const FILES_MAX: u32 = 1000;

/// Longest name of one.
const NAME_MAX: usize = 80;

/// The roots that machines had: a run that goes on makes no machine of the steps before.
const ROOTS: &str = "roots.json";

/// The document of them, as far as it is read.
const ROOTS_LIMIT: Limit = Limit { what: "a list of roots", bytes: 1 << 20 };

/// The folder for them.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) folder: PathBuf,
    count: AtomicU32,
    roots: Mutex<BTreeMap<String, String>>,
}

impl Kept {
    pub(super) fn new(folder: PathBuf) -> Self {
        let roots = Mutex::new(read(&folder.join(ROOTS)).unwrap_or_default());
        Self { count: AtomicU32::new(first_number(&folder)), folder, roots }
    }

    /// The identities of the roots that machines had, by their locators.
    pub(super) fn roots(&self) -> BTreeMap<String, String> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A machine has this root.
    pub(super) fn add_root(&self, root: &Root) -> Result<(), Trouble> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let before = roots.insert(root.locator.clone(), root.identity.clone());
        if before.as_ref() == Some(&root.identity) {
            return Ok(());
        }
        let path = self.folder.join(ROOTS);
        let failed = |error: std::io::Error| host_failed(&path, &error);
        let bytes = serde_json::to_vec(&*roots).map_err(|error| failed(error.into()))?;
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        host::write_atomically(&path, &bytes).map_err(failed)
    }

    /// A place for a file: its name in the folder, and its path.
    pub(super) fn place(&self, name: &str) -> Result<(String, PathBuf), Trouble> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        if number >= FILES_MAX {
            let text = format!("an experiment keeps at most {FILES_MAX} files");
            return Err(Trouble::new(ErrorName::Refused, text));
        }
        let name = format!("{number}-{}", harmless(name));
        let path = self.folder.join(&name);
        Ok((name, path))
    }

    /// Keeps a file; gives its name in the folder.
    pub(super) fn keep(&self, name: &str, content: &[u8]) -> Result<String, Trouble> {
        let (name, path) = self.place(name)?;
        let failed = |error: std::io::Error| host_failed(&path, &error);
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&path, content))
            .map_err(failed)?;
        Ok(name)
    }
}

/// The number of the next file: those that the steps before have kept stay.
fn first_number(folder: &Path) -> u32 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |name: &str| name.split_once('-')?.0.parse::<u32>().ok();
    let numbers = entries.filter_map(|entry| number(entry.file_name().to_str()?));
    numbers.max().map_or(0, |last| last.saturating_add(1))
}

fn host_failed(path: &Path, error: &std::io::Error) -> Trouble {
    Trouble::broken(Blame::Host, format!("{}: {error}", path.display()))
}

/// What an earlier run has written, if it is whole.
fn read(path: &Path) -> Option<BTreeMap<String, String>> {
    serde_json::from_slice(&files::read(path, ROOTS_LIMIT).ok()?).ok()
}

/// The last part of a path in a guest, without anything that a terminal or a shell obeys.
fn harmless(path: &str) -> String {
    let base = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    base.chars().take(NAME_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_guests_get_names_of_their_own_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path().join("results"));
        let names: Vec<String> =
            ["/var/log/x", "../../x", "x\u{1b}[2J"].map(|name| kept.keep(name, b"content").unwrap()).to_vec();
        assert!(
            names.iter().enumerate().all(|(number, name)| name.starts_with(&format!("{number}-"))),
            "{names:?}"
        );
        for name in names {
            assert!(!name.contains('/') && !name.contains('\u{1b}'), "{name:?}");
            assert_eq!(std::fs::read(kept.folder.join(name)).unwrap(), b"content");
        }
    }

    #[test]
    fn a_run_that_goes_on_overwrites_no_file_of_the_steps_before() {
        let folder = tempfile::tempdir().unwrap();
        let kept = || Kept::new(folder.path().join("results"));
        assert_eq!(kept().keep("log", b"first").unwrap(), "0-log");
        std::fs::write(folder.path().join("results/x-log"), "no number").unwrap();
        assert_eq!(kept().keep("log", b"second").unwrap(), "1-log");
    }

    #[test]
    fn a_run_that_goes_on_knows_the_roots_of_the_steps_before() {
        let folder = tempfile::tempdir().unwrap();
        let root = |locator: &str, identity: &str| Root {
            locator: locator.to_string(),
            provenance: String::new(),
            identity: identity.to_string(),
            files: root::Files::Host(root::HostFiles { writable: Vec::new() }),
        };
        let kept = || Kept::new(folder.path().join("results"));
        let first = kept();
        first.add_root(&root("debian:fio", "1")).unwrap();
        first.add_root(&root("debian:fio", "1")).unwrap();
        let second = kept();
        second.add_root(&root("./x", "2")).unwrap();
        let expected = [("./x", "2"), ("debian:fio", "1")];
        let expected = expected.map(|(locator, identity)| (locator.to_string(), identity.to_string()));
        assert_eq!(second.roots(), BTreeMap::from(expected));
        std::fs::write(folder.path().join("results").join(ROOTS), "{half").unwrap();
        assert_eq!(kept().roots(), BTreeMap::new());
    }
}
