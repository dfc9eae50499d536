//! Files that are there as a whole or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fchmod, linkat, open, rename, unlink};
use rustix::io::Errno;

/// Mode of a new file, from which the user's umask is taken.
const MODE: u32 = 0o666;

/// Mode of a file that only its user may read.
const PRIVATE: u32 = 0o600;

/// How the name of a file begins that is about to replace another.
const PART: &str = ".kiln-part-";

/// How often others that write the same path may come in between.
const TRIES: usize = 10_000;

/// Writes `bytes` to `path`: to a file without a name, which gets it when it is complete. Of several processes that write
/// the same path at once the last one wins; nobody ever reads a mixture or a half.
///
/// # Errors
///
/// When the folder does not exist or the host refuses; nothing is left behind then. A kiln that is killed at the moment of
/// a replacement may leave a file, which the next one that writes this path takes away.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, bytes, MODE)
}

/// [`write_atomically`] for a secret: no other user can read the file at any moment.
///
/// # Errors
///
/// As there.
pub fn write_privately(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, bytes, PRIVATE)
}

fn write_with(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        let Ok(unnamed) = open(folder, flags, Mode::from_raw_mode(mode)) else {
            return write_beside(folder, path, bytes, mode);
        };
        let mut unnamed = File::from(unnamed);
        unnamed.write_all(bytes)?;
        match give_name(&unnamed, folder, path) {
            // Another that writes the same path took the name of this one away, and may have been killed since.
            Err(Errno::NOENT) => {}
            done => return Ok(done?),
        }
    }
    Err(Errno::BUSY.into())
}

/// Gives a file its name, which it may get only once.
fn give_name(unnamed: &File, folder: &Path, path: &Path) -> rustix::io::Result<()> {
    let link = |to: &Path| {
        let from = format!("/proc/self/fd/{}", unnamed.as_raw_fd());
        linkat(CWD, from, CWD, to, AtFlags::SYMLINK_FOLLOW)
    };
    match link(path) {
        Err(Errno::EXIST) => {}
        result => return result,
    }
    // A link does not replace a file, but a rename does.
    let part = part_of(folder, path);
    match link(&part) {
        Err(Errno::EXIST) => return unlink(&part).and(Err(Errno::NOENT)),
        linked => linked?,
    }
    rename(&part, path).inspect_err(|_| remove(&part))
}

/// The same on a file system that has no files without a name. Who writes the same path waits for the file beside it; one
/// that a killed kiln left is written anew.
fn write_beside(folder: &Path, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let part = part_of(folder, path);
    for _ in 0..TRIES {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(open(&part, flags, Mode::from_raw_mode(mode))?);
        if mode == PRIVATE {
            // One that was left there may be open to others.
            fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        file.lock()?;
        // The one that was waited for may have given it its name, or removed it.
        if !is_at(&file, &part) {
            continue;
        }
        let written = file.set_len(0).and_then(|()| file.write_all(bytes));
        let done = written.and_then(|()| Ok(rename(&part, path)?));
        return done.inspect_err(|_| remove(&part));
    }
    Err(Errno::BUSY.into())
}

/// Another may have done so.
fn remove(part: &Path) {
    let _ = unlink(part);
}

fn is_at(file: &File, path: &Path) -> bool {
    let found = file.metadata().and_then(|file| Ok((file, std::fs::symlink_metadata(path)?)));
    found.is_ok_and(|(file, there)| (file.dev(), file.ino()) == (there.dev(), there.ino()))
}

/// The file that is about to replace another. The name is always the same: what a kiln left that was killed in between is
/// found by the next one.
fn part_of(folder: &Path, path: &Path) -> PathBuf {
    let mut name = OsString::from(PART);
    name.push(path.file_name().unwrap_or_default());
    folder.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    type Write = fn(&Path, &[u8]) -> io::Result<()>;

    /// Both ways to write.
    const WAYS: [Write; 2] =
        [write_atomically, |path, bytes| write_beside(path.parent().unwrap(), path, bytes, MODE)];

    /// Both ways to write a secret.
    const PRIVATE_WAYS: [Write; 2] =
        [write_privately, |path, bytes| write_beside(path.parent().unwrap(), path, bytes, PRIVATE)];

    fn names(folder: &tempfile::TempDir) -> Vec<OsString> {
        std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name()).collect()
    }

    #[test]
    fn a_file_is_replaced_and_can_be_read_by_others() {
        for write in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            for content in [&b"longer"[..], b"new"] {
                write(&path, content).unwrap();
                assert_eq!(std::fs::read(&path).unwrap(), content);
            }
            // What the umask of this process makes of any new file.
            std::fs::write(folder.path().join("plain"), "").unwrap();
            let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode("file"), mode("plain"));
        }
    }

    #[test]
    fn a_secret_is_for_its_user_alone() {
        for write in PRIVATE_WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            for name in ["file", ".kiln-part-file"] {
                std::fs::write(folder.path().join(name), "open to all").unwrap();
            }
            write(&path, b"secret").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"secret");
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_a_killed_one_left_is_replaced() {
        for write in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::fs::write(&path, "old").unwrap();
            std::fs::write(folder.path().join(".kiln-part-file"), "ha, this is longer").unwrap();
            write(&path, b"new").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            assert_eq!(names(&folder), ["file"]);
        }
    }

    #[test]
    fn a_name_that_cannot_be_taken_is_an_error() {
        for write in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::fs::write(&path, "old").unwrap();
            std::fs::create_dir(folder.path().join(".kiln-part-file")).unwrap();
            assert_eq!(write(&path, b"new").unwrap_err().raw_os_error(), Some(libc::EISDIR));
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
        }
    }

    #[test]
    fn a_link_that_somebody_laid_there_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(".kiln-part-file")).unwrap();
        let done = write_beside(folder.path(), &folder.path().join("file"), b"new", MODE);
        assert_eq!(done.unwrap_err().raw_os_error(), Some(libc::ELOOP));
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn many_that_write_the_same_path_leave_the_work_of_one() {
        for write in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::thread::scope(|scope| {
                for writer in 0..8_u8 {
                    let path = &path;
                    scope.spawn(move || (0..50).for_each(|_| write(path, &[writer; 4096]).unwrap()));
                }
            });
            let content = std::fs::read(&path).unwrap();
            assert!(content.len() == 4096 && content.iter().all(|byte| *byte == content[0]));
            assert_eq!(names(&folder), ["file"]);
        }
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        for write in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("in-the-way");
            std::fs::create_dir(&path).unwrap();
            assert!(write(&path, b"x").is_err());
            assert!(write(&folder.path().join("no/such/folder"), b"x").is_err());
            assert_eq!(names(&folder), ["in-the-way"]);
        }
    }
}
