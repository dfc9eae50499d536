//! A folder of the host as it is shipped into a machine.
//!
//! A folder may hold anything. No link is followed, nothing but plain files is opened, and what cannot be
//! shipped is named in [`Folder::left_out`].

use std::collections::BTreeMap;
use std::fs::{DirEntry, File, Metadata, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use kernel::PartsHash;
use rustix::fs::{Mode, OFlags};

use crate::error::Error;

/// Most files, links and directories of a folder.
const ENTRIES_MAX: usize = 200_000;

/// Most bytes of a folder: an initramfs must lie below 2 GiB in the machine, beside its kernel.
pub const SIZE_MAX: u64 = 1 << 30;

/// Most things that were left out of which each is named.
const NAMED_MAX: usize = 1000;

/// Most links that lead to each other.
const HOPS_MAX: usize = 8;

/// What is in a folder.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
    entries: BTreeMap<String, Entry>,
    left_out: Vec<String>,
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory,
    /// A plain file.
    File {
        /// Its size in bytes.
        size: u64,
        /// The lower nine bits of its mode.
        permissions: u32,
    },
    /// A symbolic link that stays inside, with its target as it stands there.
    Link(String),
}

impl Folder {
    /// Looks at all that is below `root`; directories called `.git` are passed over.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no directory, or holds too much.
    pub fn survey(root: &Path) -> Result<Self, Error> {
        let failed = |source: std::io::Error| error(root, &source.to_string());
        let root = root.canonicalize().map_err(failed)?;
        let mut folder = Self { root, entries: BTreeMap::new(), left_out: Vec::new() };
        let mut open = folder.list("").map_err(failed)?;
        while let Some((path, entry)) = open.pop() {
            let Ok(metadata) = entry.metadata() else {
                folder.leave_out(&path, "cannot be read");
                continue;
            };
            if metadata.is_dir() {
                match folder.list(&path) {
                    Ok(inside) => open.extend(inside),
                    Err(_) => folder.leave_out(&path, "cannot be read"),
                }
            }
            folder.add(path, &entry, &metadata);
            if folder.entries.len() + open.len() > ENTRIES_MAX {
                return Err(error(&folder.root, &format!("holds more than {ENTRIES_MAX} files")));
            }
        }
        Ok(folder)
    }

    /// What is in a directory, except for what has no name that can be shown.
    fn list(&mut self, directory: &str) -> std::io::Result<Vec<(String, DirEntry)>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.root.join(directory))?.take(ENTRIES_MAX) {
            let entry = entry?;
            let name = entry.file_name();
            let path = |name: &str| {
                if directory.is_empty() { name.to_string() } else { format!("{directory}/{name}") }
            };
            match name.to_str() {
                Some(".git") => {}
                Some(name) if !name.contains(char::is_control) => found.push((path(name), entry)),
                _ => self.leave_out(&path(&name.to_string_lossy()), "has a name that is not plain text"),
            }
        }
        Ok(found)
    }

    fn add(&mut self, path: String, entry: &DirEntry, metadata: &Metadata) {
        let kind = metadata.file_type();
        let added = if kind.is_dir() {
            Entry::Directory
        } else if kind.is_file() {
            Entry::File { size: metadata.len(), permissions: metadata.permissions().mode() & 0o777 }
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path())
                .ok()
                .and_then(|target| target.into_os_string().into_string().ok());
            match target.filter(|target| inside(&path, target).is_some()) {
                Some(target) => Entry::Link(target),
                None => return self.leave_out(&path, "is a link that leads out of the folder"),
            }
        } else {
            let what = if kind.is_fifo() {
                "a pipe"
            } else if kind.is_socket() {
                "a socket"
            } else {
                "a device"
            };
            return self.leave_out(&path, &format!("is {what}"));
        };
        self.entries.insert(path, added);
    }

    fn leave_out(&mut self, path: &str, why: &str) {
        if self.left_out.len() < NAMED_MAX {
            self.left_out.push(format!("{} {why}", path.escape_debug()));
        }
    }

    /// The folder on the host, free of links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Paths from the folder on with what lies there, sorted.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// What is not shipped, and why: a line each.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Keeps only what is wanted, and the directories.
    pub fn keep(&mut self, wanted: impl Fn(&str, &Entry) -> bool) {
        self.entries.retain(|path, entry| *entry == Entry::Directory || wanted(path, entry));
    }

    /// The file at `path`, or at the end of the links that lie there, as long as they stay inside.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<(&str, &Entry)> {
        let mut path = path.to_string();
        for _ in 0..HOPS_MAX {
            match self.entries.get_key_value(&path)? {
                (_, Entry::Link(target)) => path = inside(&path, target)?,
                (_, Entry::Directory) => return None,
                (path, file @ Entry::File { .. }) => return Some((path, file)),
            }
        }
        None
    }

    /// Bytes in all files.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.entries.values().map(|entry| if let Entry::File { size, .. } = entry { *size } else { 0 }).sum()
    }

    /// The content of the file at `path`.
    ///
    /// # Errors
    ///
    /// When it is no plain file any more or cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let path = self.root.join(path);
        let failed = |source: std::io::Error| error(&path, &source.to_string());
        // It may have been replaced by a link or a pipe since the folder was looked at.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let file = File::from(file);
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(error(&path, "is not a file"));
        }
        let mut content = Vec::new();
        file.take(SIZE_MAX + 1).read_to_end(&mut content).map_err(failed)?;
        if content.len() as u64 > SIZE_MAX {
            return Err(error(&path, "is too large to be shipped into a machine"));
        }
        Ok(content)
    }

    /// Puts all that is shipped into a new directory.
    ///
    /// # Errors
    ///
    /// When something cannot be read or written, or the directory is there already.
    pub fn copy_to(&self, target: &Path) -> Result<(), Error> {
        let failed = |path: &Path, source: std::io::Error| error(path, &source.to_string());
        std::fs::create_dir(target).map_err(|source| failed(target, source))?;
        // A directory comes before what is in it.
        for (path, entry) in self.entries() {
            let place = target.join(path);
            let made = match entry {
                Entry::Directory => std::fs::create_dir(&place),
                Entry::Link(to) => std::os::unix::fs::symlink(to, &place),
                Entry::File { permissions, .. } => std::fs::write(&place, self.read(path)?)
                    .and_then(|()| std::fs::set_permissions(&place, Permissions::from_mode(*permissions))),
            };
            made.map_err(|source| failed(&place, source))?;
        }
        Ok(())
    }

    /// A hash that changes with anything that is shipped.
    ///
    /// # Errors
    ///
    /// When something of it cannot be read.
    pub fn identity(&self) -> Result<String, Error> {
        self.hash(|entry| Some(format!("{entry:?}")))
    }

    /// A hash over files and links that is the same after a copy, whatever the umask(2) there: of the permissions only counts
    /// whether somebody may execute a file.
    ///
    /// # Errors
    ///
    /// When something of it cannot be read.
    pub fn content(&self) -> Result<String, Error> {
        self.hash(|entry| match entry {
            Entry::Directory => None,
            Entry::File { .. } => Some(format!("file {}", entry.is_executable())),
            Entry::Link(target) => Some(format!("link {target}")),
        })
    }

    /// A hash over what these words tell of entries.
    fn hash(&self, words: impl Fn(&Entry) -> Option<String>) -> Result<String, Error> {
        let mut hash = PartsHash::default();
        for (path, entry) in self.entries() {
            let Some(words) = words(entry) else { continue };
            hash.part(path);
            hash.part(words);
            if entry.is_file() {
                hash.part(self.read(path)?);
            }
        }
        Ok(hash.finish())
    }
}

impl Entry {
    /// Whether it is a plain file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Whether it is a file that somebody may execute.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        matches!(self, Self::File { permissions, .. } if permissions & 0o111 != 0)
    }
}

/// Where a link at `path` leads, as a path from the folder on; nothing if it leads out of it.
fn inside(path: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn error(path: &Path, why: &str) -> Error {
    Error::Program { program: path.display().to_string(), why: why.to_string() }
}

#[cfg(test)]
mod tests;
