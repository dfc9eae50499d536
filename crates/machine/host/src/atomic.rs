//! Files that are there as a whole or not at all.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open, rename, unlink};
use rustix::io::Errno;

/// Mode of a new file, from which the user's umask is taken.
const MODE: u32 = 0o666;

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
/// a replacement may leave a file, which the next one that writes this path removes.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        let Ok(unnamed) = open(folder, flags, Mode::from_raw_mode(MODE)) else {
            return write_beside(folder, path, bytes);
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
    // A link does not replace a file, but a rename does. The name is always the same: what a kiln left that was killed in
    // between is found and removed by the next one.
    let mut name = OsString::from(PART);
    name.push(path.file_name().unwrap_or_default());
    let part = folder.join(name);
    match link(&part) {
        Err(Errno::EXIST) => return unlink(&part).and(Err(Errno::NOENT)),
        linked => linked?,
    }
    rename(&part, path).inspect_err(|_| {
        let _ = unlink(&part);
    })
}

/// The same on a file system that has no files without a name.
fn write_beside(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = Permissions::from_mode(MODE);
    let mut part = tempfile::Builder::new().prefix(PART).permissions(permissions).tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_can_be_read_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        // What the umask of this process makes of any new file.
        std::fs::write(folder.path().join("plain"), "").unwrap();
        let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("file"), mode("plain"));
    }

    #[test]
    fn what_a_killed_one_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        std::fs::write(folder.path().join(".kiln-part-file"), "ha").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_name_that_cannot_be_taken_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        std::fs::create_dir(folder.path().join(".kiln-part-file")).unwrap();
        assert_eq!(write_atomically(&path, b"new").unwrap_err().raw_os_error(), Some(libc::EISDIR));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn many_that_write_the_same_path_leave_the_work_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::thread::scope(|scope| {
            for writer in 0..8_u8 {
                let path = &path;
                scope.spawn(move || (0..50).for_each(|_| write_atomically(path, &[writer; 4096]).unwrap()));
            }
        });
        let content = std::fs::read(&path).unwrap();
        assert!(content.len() == 4096 && content.iter().all(|byte| *byte == content[0]));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn without_nameless_files_it_is_written_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for content in [b"old", b"new"] {
            write_beside(folder.path(), &path, content).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), content);
        }
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in-the-way");
        std::fs::create_dir(&path).unwrap();
        assert!(write_atomically(&path, b"x").is_err());
        assert!(write_atomically(&folder.path().join("no/such/folder"), b"x").is_err());
        let names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["in-the-way"]);
    }
}
