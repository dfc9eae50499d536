//! Files in a directory that may be hostile: every path in it is resolved as if the directory were `/`, whatever links
//! there are: openat2(2).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use protocol::root::PROGRAMS;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, symlinkat};
use rustix::io::Errno;

/// A directory that is `/` to all paths.
#[derive(Debug)]
pub(crate) struct Inside(OwnedFd);

impl Inside {
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(CWD, directory, flags, Mode::empty())?))
    }

    /// A directory, which is made with all above it if need be.
    pub(crate) fn directory(&self, path: &str) -> io::Result<OwnedFd> {
        let mut made = String::new();
        let mut last = self.resolve("/")?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            match mkdirat(&last, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            made.push('/');
            made.push_str(name);
            last = self.resolve(&made)?;
        }
        Ok(last)
    }

    /// A symbolic link, unless something is there already.
    pub(crate) fn link(&self, path: &str, target: &str) -> io::Result<()> {
        let (above, name) = self.above(path)?;
        unless_there(symlinkat(target, &above, name))
    }

    /// A file with this content and these permissions, unless something is there already. Nothing else may be in the place of
    /// a user's program: it would run instead.
    pub(crate) fn write_absent(&self, path: &str, content: &[u8], permissions: u32) -> io::Result<()> {
        let (above, name) = self.above(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&above, name, flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => {
                let mut file = File::from(file);
                file.write_all(content)?;
                Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(permissions & 0o777))?)
            }
            Err(Errno::EXIST) if path.starts_with(PROGRAMS) && !self.holds(path, content) => {
                let text = format!("the root has another {path}: give your program another name");
                Err(io::Error::new(io::ErrorKind::AlreadyExists, text))
            }
            Err(error) => unless_there(Err(error)),
        }
    }

    /// Makes all that is in `source`, and empties that on the way: what was copied need not be in memory twice.
    pub(crate) fn take_all(&self, source: &Path) -> io::Result<()> {
        if source.is_dir() { self.take(source, "") } else { Ok(()) }
    }

    fn take(&self, source: &Path, place: &str) -> io::Result<()> {
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            let (from, found) = (entry.path(), entry.metadata()?);
            let path = format!("{place}/{}", entry.file_name().to_string_lossy());
            if found.is_dir() {
                self.directory(&path)?;
                self.take(&from, &path)?;
                fs::remove_dir(&from)?;
            } else {
                match found.is_symlink() {
                    true => self.link(&path, &fs::read_link(&from)?.to_string_lossy())?,
                    false => self.write_absent(&path, &fs::read(&from)?, found.permissions().mode())?,
                }
                fs::remove_file(&from)?;
            }
        }
        Ok(())
    }

    /// The directory above a path, which is made if need be, and the last name.
    fn above<'p>(&self, path: &'p str) -> io::Result<(OwnedFd, &'p str)> {
        let (above, name) = path.rsplit_once('/').ok_or(Errno::INVAL)?;
        if name.is_empty() || name == "." || name == ".." {
            return Err(Errno::INVAL.into());
        }
        Ok((self.directory(above)?, name))
    }

    /// Whether this is a file with this content.
    fn holds(&self, path: &str, content: &[u8]) -> bool {
        // A pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat2(&self.0, path, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        let mut found = Vec::new();
        let read = file.map(|file| File::from(file).take(content.len() as u64 + 1).read_to_end(&mut found));
        matches!(read, Ok(Ok(_))) && found == content
    }

    fn resolve(&self, path: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat2(&self.0, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)?)
    }
}

fn unless_there(made: Result<(), Errno>) -> io::Result<()> {
    match made {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A hostile directory, beside one that must stay as it is.
    fn hostile() -> (tempfile::TempDir, Inside) {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("root");
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::create_dir(scratch.path().join("outside")).unwrap();
        symlink("usr/bin", root.join("bin")).unwrap();
        symlink("../../../../outside", root.join("etc")).unwrap();
        symlink(scratch.path().join("outside"), root.join("opt")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let inside = Inside::open(&root).unwrap();
        (scratch, inside)
    }

    #[test]
    fn links_do_not_lead_out_of_it() {
        let (scratch, inside) = hostile();
        inside.write_absent("/bin/tool", b"x", 0o755).unwrap();
        assert_eq!(fs::read(scratch.path().join("root/usr/bin/tool")).unwrap(), b"x");
        for path in ["/etc/passwd", "/opt/file", "/loop/file", "/../../file"] {
            // Whether it finds a place inside or none, it is not outside.
            let _ = inside.write_absent(path, b"x", 0o644);
            let _ = inside.link(&format!("{path}.link"), "/target");
        }
        assert_eq!(fs::read_dir(scratch.path().join("outside")).unwrap().count(), 0);
        let names: Vec<_> =
            fs::read_dir(scratch.path()).unwrap().flatten().map(|one| one.file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(inside.write_absent("/usr/..", b"x", 0o644).is_err());
    }

    #[test]
    fn what_is_there_is_kept() {
        let (scratch, inside) = hostile();
        inside.write_absent("/a/b/file", b"first", 0o640).unwrap();
        inside.write_absent("/a/b/file", b"second", 0o600).unwrap();
        inside.link("/a/b/file", "/target").unwrap();
        let path = scratch.path().join("root/a/b/file");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn no_other_file_is_in_the_place_of_a_program() {
        let (scratch, inside) = hostile();
        let place = format!("{PROGRAMS}/job");
        inside.write_absent(&place, b"first", 0o755).unwrap();
        inside.write_absent(&place, b"first", 0o755).unwrap();
        for other in [&b"first, and more"[..], b"fir", b""] {
            let error = inside.write_absent(&place, other, 0o755).unwrap_err().to_string();
            assert_eq!(error, "the root has another /usr/local/bin/job: give your program another name");
        }
        let path = scratch.path().join("root/usr/local/bin");
        for (name, target) in [("link", "/usr/local/bin/job"), ("loop", "loop"), ("directory", "/")] {
            symlink(target, path.join(name)).unwrap();
            let written = inside.write_absent(&format!("{PROGRAMS}/{name}"), b"first", 0o755);
            assert_eq!(written.is_ok(), name == "link", "{name}: {written:?}");
        }
    }

    #[test]
    fn a_tree_is_taken_and_emptied() {
        let (scratch, inside) = hostile();
        let layer = scratch.path().join("outside/layer");
        fs::create_dir_all(layer.join("bin")).unwrap();
        fs::write(layer.join("bin/job"), "job").unwrap();
        symlink("job", layer.join("bin/link")).unwrap();
        inside.take_all(&layer).unwrap();
        let bin = scratch.path().join("root/usr/bin");
        assert_eq!(fs::read(bin.join("job")).unwrap(), b"job");
        assert_eq!(fs::read_link(bin.join("link")).unwrap(), Path::new("job"));
        assert_eq!(fs::read_dir(&layer).unwrap().count(), 0);
        inside.take_all(&scratch.path().join("none")).unwrap();
    }
}
