//! Bounded reading, and names for content.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;

/// A file whose size is limited because nothing that large is what it is taken for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) what: &'static str,
    pub(crate) bytes: u64,
}

pub(crate) const IMAGE: Limit = Limit { what: "a kernel image", bytes: 1 << 30 };
pub(crate) const MODULE: Limit = Limit { what: "a module", bytes: 256 << 20 };
pub(crate) const CONFIG: Limit = Limit { what: "a configuration", bytes: 8 << 20 };
pub(crate) const LIST: Limit = Limit { what: "a list of modules", bytes: 64 << 20 };

/// The whole of a file that the user named, or that lies where the user pointed.
pub(crate) fn read(path: &Path, limit: Limit) -> Result<Vec<u8>, Error> {
    let read = || -> io::Result<Option<Vec<u8>>> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        if size > limit.bytes {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The file may grow meanwhile, or be a device whose size is said to be zero.
        file.take(limit.bytes + 1).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= limit.bytes).then_some(content))
    };
    match read() {
        Ok(Some(content)) => Ok(content),
        Ok(None) => Err(Error::TooLarge { path: path.to_owned(), what: limit.what, limit: limit.bytes }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NotFound { path: path.to_owned() })
        }
        Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
    }
}

/// The text of a file that need not be there.
pub(crate) fn read_text(path: &Path, limit: Limit) -> Result<Option<String>, Error> {
    match read(path, limit) {
        Ok(content) => Ok(Some(String::from_utf8_lossy(&content).into_owned())),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a regular file lies there, not a link to one.
pub(crate) fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// SHA-256 in hexadecimal.
pub(crate) fn hash(content: &[u8]) -> String {
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
        assert!(matches!(read(&directory.path().join("none"), limit), Err(Error::NotFound { .. })));
        assert!(matches!(read(directory.path(), CONFIG), Err(Error::Unreadable { .. })));
    }
}
