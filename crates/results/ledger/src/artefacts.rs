//! Files by their content: compressed by zstd, and named by the SHA-256 of what is in them. The same file is kept once.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use kernel::files::hash;
use rustix::fs::OFlags;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The folder, beside those of the sessions.
pub(crate) const FOLDER: &str = "artefacts";

/// The file that is locked.
const LOCK: &str = "lock";

/// Bytes of what a file system counts: stat(2).
const BLOCK: u64 = 512;

/// Digits of a name that a folder has in common.
const PREFIX: usize = 2;

/// Digits of a name.
const DIGITS: usize = 64;

/// Largest file that is kept, in bytes.
const FILE_MAX: u64 = 8 << 20;

/// Files by their content.
#[derive(Debug, Clone)]
pub(crate) struct Artefacts {
    root: PathBuf,
}

/// Nobody else adds or removes files as long as this lives.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "it is closed in the end")] File);

impl Artefacts {
    /// Those beside the sessions below a folder.
    pub(crate) fn beside(sessions: &Path) -> Self {
        Self { root: sessions.join(FOLDER) }
    }

    /// Their folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Waits until nobody else adds or removes files.
    pub(crate) fn lock(&self) -> io::Result<Lock> {
        fs::create_dir_all(&self.root)?;
        let file = File::options()
            .create(true)
            .append(true)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(self.root.join(LOCK))?;
        file.lock()?;
        Ok(Lock(file))
    }

    /// Keeps a file; gives its name.
    pub(crate) fn add(&self, content: &[u8], _lock: &Lock) -> io::Result<String> {
        let name = hash(content);
        let path = self.path(&name);
        if self.read(&name).is_ok_and(|known| known == content) {
            return Ok(name);
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        host::write_atomically(&path, &compress_to_vec(content, CompressionLevel::Fastest))?;
        Ok(name)
    }

    /// The content of a file. One that is not what its name says is an error.
    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        if !is_name(name) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let packed = read_file(&self.path(name), false)?;
        let mut content = Vec::new();
        let decoder = StreamingDecoder::new(packed.as_slice()).map_err(io::Error::other)?;
        decoder.take(FILE_MAX + 1).read_to_end(&mut content)?;
        if hash(&content) == name { Ok(content) } else { Err(io::Error::other("is not what was kept")) }
    }

    /// Whether a file is what its name says; one that is not is removed. What cannot be read now stays.
    pub(crate) fn is_well(&self, name: &str) -> bool {
        let done = self.read(name);
        if done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Other) {
            self.remove(name);
        }
        done.is_ok()
    }

    /// All files, by their names, and what they take on the disk, in bytes.
    pub(crate) fn all(&self) -> Vec<(String, u64)> {
        let listed = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = listed(&self.root).filter(|entry| entry.path().is_dir());
        let files = folders.flat_map(|folder| listed(&folder.path()).collect::<Vec<_>>());
        let named = files.filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
            // Others lie somewhere else than where they are looked for.
            let is_at_home = self.path(&name) == entry.path();
            Some((name, entry.metadata().ok()?.blocks() * BLOCK)).filter(|_| is_at_home)
        });
        named.collect()
    }

    /// Removes all files but those that are wanted; gives how many bytes that freed.
    pub(crate) fn keep_only(&self, wanted: &HashSet<String>, _lock: &Lock) -> u64 {
        let unwanted = self.all().into_iter().filter(|(name, _)| !wanted.contains(name));
        unwanted.filter(|(name, _)| self.remove(name)).map(|(_, size)| size).sum()
    }

    /// Whether a file is gone now.
    fn remove(&self, name: &str) -> bool {
        is_name(name) && fs::remove_file(self.path(name)).is_ok()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(&name[..PREFIX]).join(name)
    }
}

fn is_name(name: &str) -> bool {
    name.len() == DIGITS && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A plain file of at most [`FILE_MAX`] bytes; of a larger one the end, if that `is_enough`. The folder may be a stranger's: links are not
/// followed, and nobody waits for a pipe.
pub(crate) fn read_file(path: &Path, is_enough: bool) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > FILE_MAX && !is_enough {
        return Err(io::ErrorKind::InvalidData.into());
    }
    file.seek(SeekFrom::Start(found.len().saturating_sub(FILE_MAX)))?;
    let mut content = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place() -> (tempfile::TempDir, Artefacts) {
        let folder = tempfile::tempdir().expect("a directory");
        let artefacts = Artefacts::beside(folder.path());
        (folder, artefacts)
    }

    proptest! {
        #[test]
        fn what_is_kept_is_given_back_and_kept_once(content: Vec<u8>, other: Vec<u8>) {
            let (_folder, artefacts) = place();
            let lock = artefacts.lock().expect("room");
            let name = artefacts.add(&content, &lock).expect("room");
            prop_assert_eq!(artefacts.add(&content, &lock).expect("room"), name.clone());
            let second = artefacts.add(&other, &lock).expect("room");
            prop_assert_eq!(artefacts.read(&name).expect("kept"), content);
            prop_assert_eq!(artefacts.all().len(), if name == second { 1 } else { 2 });
            artefacts.keep_only(&[second.clone()].into(), &lock);
            prop_assert_eq!(artefacts.read(&second).expect("kept"), other);
            prop_assert_eq!(artefacts.all().len(), 1);
        }
    }

    #[test]
    fn damage_is_noticed_and_mended_by_the_next_who_keeps_it() {
        let (folder, artefacts) = place();
        let lock = artefacts.lock().expect("room");
        let name = artefacts.add(b"evidence", &lock).expect("room");
        let path = folder.path().join(FOLDER).join(&name[..2]).join(&name);
        for damage in [&b""[..], b"no zstd", &compress_to_vec(&b"another"[..], CompressionLevel::Fastest)] {
            fs::write(&path, damage).expect("writable");
            assert!(artefacts.read(&name).is_err());
        }
        artefacts.add(b"evidence", &lock).expect("room");
        assert_eq!(artefacts.read(&name).expect("kept"), b"evidence");
        for odd in ["", "..", &"z".repeat(64), "3f"] {
            assert!(artefacts.read(odd).is_err() && !artefacts.remove(odd));
        }
    }

    #[test]
    fn of_a_large_console_the_end_is_kept_and_of_others_nothing() {
        let (folder, artefacts) = place();
        let path = folder.path().join("console.log");
        let mut content: Vec<u8> =
            (0..FILE_MAX / 4).flat_map(|number| (number as u32).to_le_bytes()).collect();
        content.extend(b"the end");
        fs::write(&path, &content).expect("writable");
        let end = read_file(&path, true).expect("readable");
        assert_eq!(end, content[7..]);
        let lock = artefacts.lock().expect("room");
        let name = artefacts.add(&end, &lock).expect("room");
        assert!(artefacts.read(&name).expect("kept") == end);
        assert!(read_file(&path, false).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
        assert!(read_file(&link, true).is_err() && read_file(Path::new("/dev/zero"), true).is_err());
    }
}
