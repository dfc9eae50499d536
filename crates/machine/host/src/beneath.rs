//! Files below a folder to which a stranger's program can write: no link leads out of it, and nothing in it makes kiln wait.
//!
//! openat2(2), `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat, openat2, unlinkat};

/// Opens a plain file below `folder` to be read.
///
/// # Errors
///
/// When it is not there, is no plain file, or a link stands on the way.
pub fn open_beneath(folder: &Path, path: &Path) -> io::Result<File> {
    // A FIFO would wait for a writer.
    let file: File = beneath(folder, path, OFlags::RDONLY | OFlags::NONBLOCK)?.into();
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidData, "not a plain file")),
    }
}

/// The text of a plain file below `folder`, of which at most `limit` bytes are read. What is no UTF-8 in it is replaced.
///
/// # Errors
///
/// As for [`open_beneath`], and when it cannot be read.
pub fn text_beneath(folder: &Path, path: &Path, limit: u64) -> io::Result<String> {
    let mut text = Vec::new();
    open_beneath(folder, path)?.take(limit).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Removes what is at `path` below `folder`, if anything is there and it is no folder.
///
/// # Errors
///
/// When the host refuses it, or a link stands on the way.
pub fn remove_beneath(folder: &Path, path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = match beneath(folder, parent, OFlags::PATH | OFlags::DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        parent => parent?,
    };
    let name = path.file_name().unwrap_or(OsStr::new(""));
    match unlinkat(&parent, name, AtFlags::empty()) {
        Err(rustix::io::Errno::NOENT) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn beneath(folder: &Path, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let folder = openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(&folder, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_leads_out() {
        let directory = tempfile::tempdir().unwrap();
        let (inside, outside) = (directory.path().join("in"), directory.path().join("out"));
        for folder in [&inside.join("sub"), &outside] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("file"), "text").unwrap();
        }
        symlink(&outside, inside.join("folder")).unwrap();
        symlink(outside.join("file"), inside.join("link")).unwrap();
        let fifo = inside.join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let read = |path: &str| {
            let mut text = String::new();
            open_beneath(&inside, Path::new(path))?.read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read("sub/file").unwrap(), "text");
        for path in [
            "folder/file",
            "link",
            "../out/file",
            "fifo",
            "sub",
            "none",
            outside.join("file").to_str().unwrap(),
        ] {
            assert!(read(path).is_err(), "{path}");
        }
        for path in ["folder/file", "../out/file"] {
            assert!(remove_beneath(&inside, Path::new(path)).is_err(), "{path}");
        }
        for path in ["link", "fifo", "sub/file", "sub/none", "none/none"] {
            remove_beneath(&inside, Path::new(path)).unwrap();
            assert!(!inside.join(path).exists());
        }
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "text");
    }

    #[test]
    fn text_is_bounded_and_always_text() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), b"abc\xffdef").unwrap();
        let text = |limit| text_beneath(folder.path(), Path::new("file"), limit).unwrap();
        assert_eq!((text(3).as_str(), text(99).as_str()), ("abc", "abc\u{fffd}def"));
        assert!(text_beneath(folder.path(), Path::new("none"), 9).is_err());
    }
}
