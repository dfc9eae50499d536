//! A file to which something is added now and then, and which is whole again after kiln was killed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::document;
use crate::lock;
use crate::recorder::{Error, prepare};

/// Name of the file.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// Largest journal that is read, in bytes.
const SIZE_MAX: u64 = 256 << 20;

/// Where bisections are kept by default: `$XDG_STATE_HOME/kiln/bisections`.
#[must_use]
pub fn bisections_root() -> PathBuf {
    host::state_folder().join("bisections")
}

/// A file of JSON lines in a folder of its own, which nobody else writes as long as this lives.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal in `directory`, which is made if need be, and reads what it holds. A last line that was not
    /// finished, and all that follows a damaged one, is cut off.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written, or another kiln has it open.
    pub fn open<T: DeserializeOwned>(directory: &Path) -> Result<(Self, Vec<T>), Error> {
        prepare(directory)?;
        let io = |why| Error::Io { path: directory.to_path_buf(), why };
        let path = directory.join(JOURNAL);
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(io)?;
        match lock::take(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: directory.to_path_buf() }),
            Err(TryLockError::Error(why)) => return Err(io(why)),
        }
        let entries = read(&mut file).map_err(io)?;
        Ok((Self { directory: directory.to_path_buf(), file }, entries))
    }

    /// Whether a kiln has the journal in `directory` open.
    #[must_use]
    pub fn is_open(directory: &Path) -> bool {
        lock::is_taken(&directory.join(JOURNAL))
    }

    /// Adds an entry; it is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn append(&mut self, entry: &impl Serialize) -> Result<(), Error> {
        let mut write = || -> io::Result<()> {
            let mut line = serde_json::to_vec(entry)?;
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        };
        write().map_err(|why| Error::Io { path: self.directory.clone(), why })
    }

    /// Keeps a document beside it.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn keep(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let path = self.directory.join(format!("{name}.json"));
        document::write(&path, value).map_err(|why| Error::Io { path: self.directory.clone(), why })
    }

    /// Forgets all entries.
    ///
    /// # Errors
    ///
    /// When the host refuses.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.file.set_len(0).map_err(|why| Error::Io { path: self.directory.clone(), why })
    }

    /// Its folder.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The entries, up to the first that is none; the rest is cut off.
fn read<T: DeserializeOwned>(file: &mut File) -> io::Result<Vec<T>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(SIZE_MAX).read_to_end(&mut bytes)?;
    let mut entries = Vec::new();
    let mut good = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        let Ok(entry) = serde_json::from_slice(text) else { break };
        entries.push(entry);
        good += line.len() as u64;
    }
    file.set_len(good)?;
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(directory: &Path) -> (Journal, Vec<u32>) {
        Journal::open(directory).unwrap()
    }

    #[test]
    fn what_was_added_is_there_later() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("a/b");
        let (mut journal, entries) = open(&place);
        assert!(entries.is_empty());
        journal.append(&1).unwrap();
        journal.append(&2).unwrap();
        drop(journal);
        let (mut journal, entries) = open(&place);
        assert_eq!(entries, [1, 2]);
        journal.clear().unwrap();
        journal.append(&3).unwrap();
        drop(journal);
        assert_eq!(open(&place).1, [3]);
    }

    #[test]
    fn what_was_cut_off_is_forgotten_and_can_be_added_to() {
        let directory = tempfile::tempdir().unwrap();
        for (left, expected) in [("1\n2\n3", vec![1, 2]), ("1\nx\n3\n", vec![1]), ("\n", vec![])] {
            std::fs::write(directory.path().join(JOURNAL), left).unwrap();
            let (mut journal, entries) = open(directory.path());
            assert_eq!(entries, expected, "{left:?}");
            journal.append(&9).unwrap();
            drop(journal);
            assert_eq!(open(directory.path()).1, [expected, vec![9]].concat(), "{left:?}");
        }
    }

    #[test]
    fn two_do_not_write_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let first = open(directory.path());
        assert!(Journal::is_open(directory.path()));
        let error = Journal::open::<u32>(directory.path()).unwrap_err().to_string();
        assert!(error.contains("another kiln"), "{error}");
        drop(first);
        assert!(!Journal::is_open(directory.path()));
        open(directory.path());
    }
}
