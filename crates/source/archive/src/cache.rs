//! What servers have sent, for some minutes.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use kernel::files::hash;
use series::BYTES_MAX;

use crate::Error;

/// Answers of servers, by their links.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(crate) folder: PathBuf,
    pub(crate) expire: Duration,
}

impl Cache {
    /// What is there for a link.
    pub(crate) fn find(&self, link: &str) -> Option<Vec<u8>> {
        let path = self.path(link);
        let is_good = self.is_good(&path);
        let content = host::read_bounded(&path, BYTES_MAX);
        content.ok().flatten().filter(|_| is_good)
    }

    /// Keeps an answer, and removes those that are too old.
    pub(crate) fn keep(&self, link: &str, content: &[u8]) -> Result<(), Error> {
        let io = |action, error| Error::Kernel(kernel::Error::io(action, &self.folder)(error));
        fs::create_dir_all(&self.folder).map_err(|error| io("make", error))?;
        for entry in fs::read_dir(&self.folder).map_err(|error| io("list", error))?.flatten() {
            if !self.is_good(&entry.path()) {
                // Another kiln may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
        host::write_atomically(&self.path(link), content).map_err(|error| io("write in", error))
    }

    fn path(&self, link: &str) -> PathBuf {
        self.folder.join(hash(link.as_bytes()))
    }

    /// Whether a file is young enough; one of the future is not.
    fn is_good(&self, path: &std::path::Path) -> bool {
        let written = fs::metadata(path).and_then(|found| found.modified());
        let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
        age.is_some_and(|age| age < self.expire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_while_they_are_young() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("mails");
        let young = Cache { folder: folder.clone(), expire: Duration::from_secs(1000) };
        assert_eq!(young.find("a"), None);
        young.keep("a", b"one").unwrap();
        young.keep("b", b"two").unwrap();
        assert_eq!((young.find("a").as_deref(), young.find("c")), (Some(b"one".as_slice()), None));
        let old = Cache { folder: folder.clone(), expire: Duration::ZERO };
        assert_eq!(old.find("a"), None);
        old.keep("c", b"three").unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "those that are too old are gone");
    }
}
