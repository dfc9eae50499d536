//! The folder of an experiment: all that a script can read of the host.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::nearest::nearest;
use crate::show::shown;
use crate::source::{SOURCE_BYTES, Source};

/// The name of the script in its folder.
pub const SCRIPT: &str = "experiment.star";

/// Characters of a path in a message.
const WIDTH: usize = 200;

/// The folder of an experiment.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

/// Why a file of the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is no such folder.
    #[error("{} is no folder of an experiment: {error}", path.display())]
    NoFolder {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The path leads elsewhere.
    #[error("{} is not in the folder of the experiment; a script reads nothing else", shown(path, WIDTH))]
    Outside {
        /// The path as the script names it.
        path: String,
    },
    /// There is no such file.
    #[error("there is no {} in the folder of the experiment{}", shown(path, WIDTH), meant.as_ref().map(|name| format!(": did you mean {name}?")).unwrap_or_default())]
    NoFile {
        /// The path as the script names it.
        path: String,
        /// A file with a name that is near.
        meant: Option<String>,
    },
    /// It cannot be read as source.
    #[error("{} {why}", shown(path, WIDTH))]
    Unreadable {
        /// The path as the script names it.
        path: String,
        /// Why.
        why: String,
    },
}

impl Folder {
    /// A folder with a script.
    ///
    /// # Errors
    ///
    /// When there is no such folder.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let no_folder = |error| FolderError::NoFolder { path: path.to_owned(), error };
        let root = path.canonicalize().map_err(no_folder)?;
        if !root.is_dir() {
            return Err(no_folder(std::io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { root })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A file of it, wherever the links on the way lead: not out of it.
    ///
    /// # Errors
    ///
    /// When there is none, or it is not in the folder.
    pub fn file(&self, path: &str) -> Result<PathBuf, FolderError> {
        let outside = || FolderError::Outside { path: path.to_owned() };
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.contains('\0') || !Path::new(path).components().all(is_plain) {
            return Err(outside());
        }
        let real = self.root.join(path).canonicalize().map_err(|_| self.no_file(path))?;
        if !real.starts_with(&self.root) {
            return Err(outside());
        }
        if real.is_file() { Ok(real) } else { Err(self.no_file(path)) }
    }

    /// A file of source.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no text or too long.
    pub fn source(&self, path: &str) -> Result<Source, FolderError> {
        let real = self.file(path)?;
        let unreadable = |why: String| FolderError::Unreadable { path: path.to_owned(), why };
        let mut bytes = Vec::new();
        let limit = u64::try_from(SOURCE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let read = File::open(real).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        read.map_err(|error| unreadable(format!("cannot be read: {error}")))?;
        if bytes.len() > SOURCE_BYTES {
            return Err(unreadable(format!("has more than {} KiB", SOURCE_BYTES / 1024)));
        }
        let text = String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8".to_owned()))?;
        Ok(Source::new(path, text))
    }

    fn no_file(&self, path: &str) -> FolderError {
        let names: Vec<String> = fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .flatten()
            .take(1000)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        let meant = nearest(path, names.iter().map(String::as_str)).map(str::to_owned);
        FolderError::NoFile { path: path.to_owned(), meant }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_in_the_folder_is_read() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("dock");
        fs::create_dir(&inner).unwrap();
        fs::write(outer.path().join("secret"), "x").unwrap();
        fs::write(inner.join("helper.star"), "x = 1").unwrap();
        symlink("../secret", inner.join("link.star")).unwrap();
        symlink("helper.star", inner.join("near.star")).unwrap();
        let folder = Folder::open(&inner).unwrap();
        assert_eq!(folder.source("helper.star").unwrap().text, "x = 1");
        assert!(folder.source("near.star").is_ok());
        assert!(folder.source("./helper.star").is_ok());
        for path in ["../secret", "/etc/passwd", "a/../../secret", "link.star", "a\0b"] {
            let error = folder.source(path).unwrap_err();
            assert!(matches!(error, FolderError::Outside { .. }), "{path}: {error}");
        }
        let said = folder.source("helpre.star").unwrap_err().to_string();
        assert_eq!(
            said,
            "there is no helpre.star in the folder of the experiment: did you mean helper.star?"
        );
    }

    #[test]
    fn what_is_no_source_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.star"), b"\xff").unwrap();
        fs::write(root.path().join("b.star"), "#".repeat(SOURCE_BYTES + 1)).unwrap();
        let folder = Folder::open(root.path()).unwrap();
        assert_eq!(folder.source("a.star").unwrap_err().to_string(), "a.star is not UTF-8");
        assert_eq!(folder.source("b.star").unwrap_err().to_string(), "b.star has more than 256 KiB");
        assert!(Folder::open(&root.path().join("none")).is_err());
    }
}
