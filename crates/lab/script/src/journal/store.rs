//! Where a journal is kept.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{JOURNAL_BYTES, JournalError};

/// Where a journal is kept: a file, or memory in tests.
pub trait Store {
    /// All that was written.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read(&mut self) -> io::Result<Vec<u8>>;

    /// Adds to the end.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when all that was written survives the host.
    ///
    /// # Errors
    ///
    /// When it does not.
    fn sync(&mut self) -> io::Result<()>;

    /// Leaves only the first bytes.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn truncate(&mut self, length: usize) -> io::Result<()>;
}

/// A journal in a file, which one run has at a time.
#[derive(Debug)]
pub struct FileStore {
    file: File,
}

impl FileStore {
    /// Opens a file, or creates it.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or another run has it.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let store = |error| JournalError::Store { action: "opened", error };
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).map_err(store)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: path.display().to_string() }),
            Err(TryLockError::Error(error)) => Err(store(error)),
        }
    }
}

impl Store for FileStore {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        let limit = u64::try_from(JOURNAL_BYTES).unwrap_or(u64::MAX);
        (&self.file).take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn truncate(&mut self, length: usize) -> io::Result<()> {
        self.file.set_len(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

impl Store for Vec<u8> {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, length: usize) -> io::Result<()> {
        Vec::truncate(self, length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_has_the_file_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut first = FileStore::open(&path).unwrap();
        first.append(b"abc\n").unwrap();
        first.truncate(2).unwrap();
        first.append(b"d").unwrap();
        first.sync().unwrap();
        assert_eq!(first.read().unwrap(), b"abd");
        assert!(matches!(FileStore::open(&path), Err(JournalError::Busy { .. })));
        drop(first);
        assert_eq!(FileStore::open(&path).unwrap().read().unwrap(), b"abd");
    }
}
