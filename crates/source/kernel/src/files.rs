//! Bounded reading, and names for content.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;

/// A file whose size is limited because nothing that large is what it is taken for.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// What the file is taken for, as a message names it: "a module".
    pub what: &'static str,
    /// The largest size.
    pub bytes: u64,
}

pub(crate) const IMAGE: Limit = Limit { what: "a kernel image", bytes: 1 << 30 };
pub(crate) const MODULE: Limit = Limit { what: "a module", bytes: 256 << 20 };
/// A `.config`, or a fragment of one.
pub const CONFIG: Limit = Limit { what: "a configuration", bytes: 8 << 20 };
pub(crate) const LIST: Limit = Limit { what: "a list of modules", bytes: 64 << 20 };

/// The whole of a file that the user named, or that lies where the user pointed.
///
/// # Errors
///
/// When it is not there, cannot be read, or is too large.
pub fn read(path: &Path, limit: Limit) -> Result<Vec<u8>, Error> {
    match host::read_bounded(path, limit.bytes) {
        Ok(Some(content)) => Ok(content),
        Ok(None) => Err(Error::TooLarge { path: path.to_owned(), what: limit.what, limit: limit.bytes }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NoSuchFile { path: path.to_owned() })
        }
        Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
    }
}

/// The text of a file that need not be there.
pub(crate) fn read_text(path: &Path, limit: Limit) -> Result<Option<String>, Error> {
    match read(path, limit) {
        Ok(content) => Ok(Some(String::from_utf8_lossy(&content).into_owned())),
        Err(Error::NoSuchFile { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a regular file lies there, not a link to one.
pub(crate) fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// SHA-256 in hexadecimal.
pub fn hash(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// SHA-256 over parts, each with its length so that no two lists of parts look alike.
#[derive(Debug, Clone, Default)]
pub struct PartsHash(Sha256);

impl PartsHash {
    /// Adds a part.
    pub fn part(&mut self, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        self.0.update((content.len() as u64).to_le_bytes());
        self.0.update(content);
    }

    /// The hash in hexadecimal.
    pub fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_sha256() {
        assert_eq!(hash(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn parts_are_kept_apart() {
        let hash = |parts: &[&str]| {
            let mut hash = PartsHash::default();
            parts.iter().for_each(|part| hash.part(part));
            hash.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["ab"]), hash(&["ab", ""]));
    }

    #[test]
    fn reading_is_bounded_also_where_no_size_is_known() {
        let limit = Limit { what: "a test", bytes: 10 };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, [1; 10]).unwrap();
        assert_eq!(read(&path, limit).unwrap(), [1; 10]);
        std::fs::write(&path, [1; 11]).unwrap();
        assert!(matches!(read(&path, limit), Err(Error::TooLarge { limit: 10, .. })));
        assert!(matches!(read(Path::new("/dev/zero"), limit), Err(Error::TooLarge { .. })));
        assert!(matches!(read(&directory.path().join("none"), limit), Err(Error::NoSuchFile { .. })));
        assert!(matches!(read(directory.path(), CONFIG), Err(Error::Unreadable { .. })));
    }
}
