//! The files of a site, and what is known of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kernel::files::{self, Limit};
use serde::{Deserialize, Serialize};

use super::{Published, SiteError};

/// The file that says which files are kiln's.
pub(super) const MANIFEST: &str = ".kiln-site.json";

/// The stamp of a page that could not be made.
const LEFT_OUT: &str = "left out";

/// Largest file of a site.
const LIMIT: Limit = Limit { what: "a file of a site", bytes: 64 << 20 };

/// What a manifest says.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    /// The version of kiln that made the files: another one makes other pages.
    kiln: String,
    /// Of which state of things each file was made; empty where that changes all the time.
    files: BTreeMap<String, String>,
}

/// A folder with a site.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    before: Manifest,
    now: Manifest,
    published: Published,
}

impl Folder {
    /// The folder; it is made if there is none. What is in it must be kiln's.
    pub(super) fn open(root: &Path) -> Result<Self, SiteError> {
        fs::create_dir_all(root).map_err(io(root))?;
        let manifest = root.join(MANIFEST);
        let before = match manifest.is_file() {
            true => read(&manifest).ok_or_else(|| foreign(root))?,
            false if is_empty(root)? => Manifest::default(),
            false => return Err(foreign(root)),
        };
        let kiln = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self {
            root: root.to_owned(),
            before,
            now: Manifest { kiln, files: BTreeMap::new() },
            published: Published::default(),
        })
    }

    /// Whether a file was made of what has this stamp: it stays then.
    pub(super) fn keeps(&mut self, file: &str, stamp: &str) -> bool {
        let is_known = self.before.kiln == self.now.kiln
            && self.before.files.get(file).is_some_and(|before| before == stamp)
            && self.root.join(file).is_file();
        if is_known {
            self.published.unchanged += 1;
            self.now.files.insert(file.to_owned(), stamp.to_owned());
        }
        is_known
    }

    /// A file with this content, and the stamp of what it was made of, if that has one.
    pub(super) fn put(&mut self, file: &str, content: &[u8], stamp: &str) -> Result<(), SiteError> {
        self.write(file, content)?;
        self.now.files.insert(file.to_owned(), stamp.to_owned());
        Ok(())
    }

    /// A file that says that its page could not be made; the next time it is tried again.
    pub(super) fn leave_out(&mut self, file: &str, content: &[u8], why: &str) -> Result<(), SiteError> {
        self.published.left_out.push((file.to_owned(), why.to_owned()));
        self.put(file, content, LEFT_OUT)
    }

    fn write(&mut self, file: &str, content: &[u8]) -> Result<(), SiteError> {
        let path = self.root.join(file);
        if fs::read(&path).is_ok_and(|known| known == content) {
            self.published.unchanged += 1;
            return Ok(());
        }
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(io(&path))?;
        host::write_atomically(&path, content).map_err(io(&path))?;
        self.published.written += 1;
        Ok(())
    }

    /// Removes the files of pages that are no more, and notes which files there are.
    pub(super) fn finish(mut self) -> Result<Published, SiteError> {
        for file in self.before.files.keys().filter(|file| !self.now.files.contains_key(*file)) {
            // The folder may be a stranger's, and what it says a trap.
            if host::remove_beneath(&self.root, Path::new(file)).is_ok() {
                self.published.removed += 1;
            }
        }
        let path = self.root.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&self.now)
            .map_err(|error| SiteError::Io { path: path.clone(), source: error.into() })?;
        host::write_atomically(&path, &text).map_err(io(&path))?;
        Ok(self.published)
    }
}

fn read(path: &Path) -> Option<Manifest> {
    serde_json::from_slice(&files::read(path, LIMIT).ok()?).ok()
}

fn is_empty(root: &Path) -> Result<bool, SiteError> {
    Ok(fs::read_dir(root).map_err(io(root))?.next().is_none())
}

fn foreign(root: &Path) -> SiteError {
    SiteError::Foreign { place: root.display().to_string() }
}

pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> SiteError {
    |source| SiteError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_written_and_what_is_no_more_is_removed() {
        let root = tempfile::tempdir().expect("a directory");
        let site = root.path().join("site");
        let publish = |files: &[(&str, &str)], stamp: &str| {
            let mut folder = Folder::open(&site).expect("a folder");
            for (file, content) in files {
                folder.put(file, content.as_bytes(), "").expect("writable");
            }
            let is_made = !folder.keeps("kept.html", stamp);
            if is_made {
                folder.put("kept.html", b"kept", stamp).expect("writable");
            }
            let Published { written, unchanged, removed, .. } = folder.finish().expect("writable");
            (written, unchanged, removed, is_made)
        };
        assert_eq!(publish(&[("a.html", "1"), ("b/c.html", "1")], "1"), (3, 0, 0, true));
        assert_eq!(publish(&[("a.html", "1"), ("b/c.html", "2")], "1"), (1, 2, 0, false));
        assert_eq!(publish(&[("a.html", "1")], "2"), (0, 2, 1, true));
        assert!(!site.join("b/c.html").exists());
        fs::remove_file(site.join("kept.html")).expect("removable");
        assert_eq!(publish(&[("a.html", "1")], "2"), (1, 1, 0, true), "a file that somebody removed");
    }

    #[test]
    fn files_of_somebody_else_are_left_alone() {
        let root = tempfile::tempdir().expect("a directory");
        fs::write(root.path().join("thesis"), "x").expect("writable");
        let error = Folder::open(root.path()).expect_err("it is not kiln's");
        assert!(error.is_usage() && error.to_string().contains("did not publish"), "{error}");
        let site = root.path().join("site");
        let manifest = |files: &str| {
            fs::create_dir_all(&site).expect("a folder");
            let text = format!("{{\"kiln\": \"0\", \"files\": {files}}}");
            fs::write(site.join(MANIFEST), text).expect("writable");
        };
        manifest("{\"../thesis\": \"\", \"/etc/hosts\": \"\"}");
        assert_eq!(Folder::open(&site).expect("its own").finish().expect("writable").removed, 0);
        assert!(root.path().join("thesis").is_file());
        manifest("7");
        assert!(Folder::open(&site).expect_err("no manifest").is_usage());
    }
}
