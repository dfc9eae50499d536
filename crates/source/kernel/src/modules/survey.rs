//! Which module files a tree has. Links are not followed: what is indexed lies inside the tree.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::files::{self, PartsHash};
use crate::modules::lists;

/// The module files of a tree in the order of their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Survey {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<ModuleFile>,
}

/// A file that holds a module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModuleFile {
    pub(crate) relative: String,
    pub(crate) path: PathBuf,
    pub(crate) name: String,
}

/// How the modules of a tree are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As `make modules_install` and packages leave them.
    Installed,
    /// Beside their sources, listed in `modules.order`.
    Built,
}

/// Beyond these a directory is no module tree.
const DEPTH: usize = 32;
const FILES: usize = 200_000;

/// The files that decide, besides the modules, what an index says.
pub(crate) const LISTS: [&str; 6] = [
    "modules.alias",
    "modules.builtin",
    "modules.builtin.modinfo",
    "modules.dep",
    "modules.order",
    "modules.softdep",
];

impl Survey {
    /// Looks for the modules of a tree.
    pub(crate) fn make(root: &Path, layout: Layout) -> Result<Self, Error> {
        let root = root.canonicalize().map_err(Error::io("find", root))?;
        let mut found = match layout {
            Layout::Installed => installed(&root)?,
            Layout::Built => built(&root)?,
        };
        found.sort();
        found.dedup();
        Ok(Self { root, files: found })
    }

    /// A name for the state of these files that costs no reading. Nothing if one was changed in the last two
    /// seconds: it may change again without any sign.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let newest = SystemTime::now().checked_sub(Duration::from_secs(2))?;
        let newest = i64::try_from(newest.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?;
        let mut hash = PartsHash::default();
        hash.part(self.root.as_os_str().as_encoded_bytes());
        let lists = LISTS.iter().map(|name| self.root.join(name)).filter(|path| path.exists());
        for path in self.files.iter().map(|file| file.path.clone()).chain(lists) {
            let state = path.metadata().ok()?;
            if state.ctime() > newest {
                return None;
            }
            hash.part(path.as_os_str().as_encoded_bytes());
            for number in [state.mtime(), state.mtime_nsec(), state.ctime(), state.ctime_nsec()] {
                hash.part(number.to_le_bytes());
            }
            hash.part(state.ino().to_le_bytes());
            hash.part(state.len().to_le_bytes());
        }
        Some(hash.finish())
    }
}

fn installed(root: &Path) -> Result<Vec<ModuleFile>, Error> {
    let mut found = Vec::new();
    let mut waiting = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        for entry in fs::read_dir(&directory).map_err(Error::io("list", &directory))? {
            let entry = entry.map_err(Error::io("list", &directory))?;
            let kind = entry.file_type().map_err(Error::io("look at", &directory))?;
            if kind.is_dir() && depth < DEPTH {
                waiting.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                found.extend(module_file(root, entry.path()));
            }
            if found.len() + waiting.len() > FILES {
                return Err(Error::NotATree { path: root.to_owned() });
            }
        }
    }
    Ok(found)
}

fn built(root: &Path) -> Result<Vec<ModuleFile>, Error> {
    let order = files::read_text(&root.join("modules.order"), files::LIST)?.unwrap_or_default();
    let inside = |relative: String| {
        let path = root.join(relative);
        // A link, or a way out by `..`, makes the real path another one.
        (files::is_plain_file(&path) && path.canonicalize().ok()? == path).then_some(path)
    };
    let paths = lists::order(&order).into_iter().take(FILES).filter_map(inside);
    Ok(paths.filter_map(|path| module_file(root, path)).collect())
}

fn module_file(root: &Path, path: PathBuf) -> Option<ModuleFile> {
    let relative = path.strip_prefix(root).ok()?.to_str()?.to_owned();
    let name = lists::module_name(&relative)?;
    Some(ModuleFile { relative, path, name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::write;
    use std::os::unix::fs::symlink;

    fn names(survey: &Survey) -> Vec<&str> {
        survey.files.iter().map(|file| file.relative.as_str()).collect()
    }

    #[test]
    fn finds_only_plain_files_inside() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("tree");
        for path in ["kernel/a.ko", "kernel/deep/er/b-c.ko.xz", "modules.dep", "kernel/readme"] {
            write(&root.join(path), "x");
        }
        write(&directory.path().join("outside/evil.ko"), "x");
        symlink("../../outside/evil.ko", root.join("kernel/evil.ko")).unwrap();
        symlink("../../outside", root.join("kernel/outside")).unwrap();
        symlink(".", root.join("kernel/round")).unwrap();
        let survey = Survey::make(&root, Layout::Installed).unwrap();
        assert_eq!(names(&survey), ["kernel/a.ko", "kernel/deep/er/b-c.ko.xz"]);
        assert_eq!(survey.files[1].name, "b_c");
    }

    #[test]
    fn a_built_tree_has_what_its_order_lists() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("tree");
        for path in ["fs/a.ko", "fs/unlisted.ko"] {
            write(&root.join(path), "x");
        }
        write(&directory.path().join("evil.ko"), "x");
        symlink("../evil.ko", root.join("link.ko")).unwrap();
        let absolute = directory.path().join("evil.o");
        let order = format!("fs/a.o\nfs/missing.o\n../evil.o\nlink.o\n{}\n", absolute.display());
        write(&root.join("modules.order"), order);
        assert_eq!(names(&Survey::make(&root, Layout::Built).unwrap()), ["fs/a.ko"]);
    }

    #[test]
    fn fresh_files_have_no_fingerprint() {
        let directory = tempfile::tempdir().unwrap();
        let make = || Survey::make(directory.path(), Layout::Installed).unwrap();
        let empty = make().fingerprint();
        assert!(empty.is_some());
        write(&directory.path().join("a.ko"), "x");
        assert_eq!(make().fingerprint(), None);
        std::thread::sleep(Duration::from_millis(3100));
        let before = make().fingerprint();
        assert!(before.is_some() && before != empty);
        assert_eq!(make().fingerprint(), before);
    }
}
