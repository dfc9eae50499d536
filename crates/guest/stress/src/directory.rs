//! The directories that workers work in.

use std::fs::{DirBuilder, Permissions, read_dir, remove_dir_all, set_permissions};
use std::io::Error;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use harness::sys::succeeded;
use protocol::Leftover;
use rustix::fs::{IFlags, Mode, OFlags, ioctl_setflags, open};
use rustix::mount::{UnmountFlags, unmount};

use crate::leftovers::{mounts, swaps};

/// A directory below `$TMPDIR` or `/tmp`, with an empty one for each worker.
#[derive(Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// A new one with `workers` directories.
    ///
    /// # Errors
    ///
    /// When the file system refuses it.
    pub(crate) fn new(workers: usize) -> Result<Self, Error> {
        let base = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = base.join(format!("kiln-stress.{}.{now:x}", std::process::id()));
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
            .create(&path)
            .map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let home = Self(path);
        (0..workers).try_for_each(|number| builder.create(home.of(number)))?;
        Ok(home)
    }

    /// The directory of a worker.
    pub(crate) fn of(&self, number: usize) -> PathBuf {
        self.0.join(number.to_string())
    }

    /// Removes all of it, whatever killed workers left in it; gives what resists.
    pub(crate) fn remove(self) -> Option<Leftover> {
        if remove_dir_all(&self.0).is_ok() {
            return None;
        }
        self.switch_off_swaps();
        self.unmount_all();
        unlock(&self.0);
        let why = remove_dir_all(&self.0).err()?;
        Some(Leftover {
            name: self.0.display().to_string(),
            stuck: Some(format!("cannot be removed: {why}")),
        })
    }

    fn switch_off_swaps(&self) {
        for swap in swaps().iter().filter(|swap| Path::new(swap).starts_with(&self.0)) {
            if let Ok(path) = std::ffi::CString::new(swap.as_str()) {
                // SAFETY: the path ends in a null byte. What fails here shows in the removal.
                let _ = succeeded(unsafe { libc::swapoff(path.as_ptr()) });
            }
        }
    }

    /// The last mount first, since mounts can lie inside each other.
    fn unmount_all(&self) {
        for place in mounts().iter().rev().filter(|place| Path::new(place).starts_with(&self.0)) {
            // What fails here shows in the removal.
            let _ = unmount(place.as_str(), UnmountFlags::DETACH);
        }
    }
}

/// Takes away what keeps files from being removed: attributes such as immutable, and modes.
fn unlock(path: &Path) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    // What fails here shows in the removal.
    if let Ok(file) = open(path, flags, Mode::empty()) {
        let _ = ioctl_setflags(&file, IFlags::empty());
    }
    if is_directory {
        let _ = set_permissions(path, Permissions::from_mode(0o700));
        read_dir(path).into_iter().flatten().flatten().for_each(|entry| unlock(&entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_removed_with_all_that_was_left_in_it() {
        let home = Home::new(2).expect("a directory");
        let (path, locked) = (home.0.clone(), home.of(1).join("locked"));
        std::fs::write(home.of(0).join("file"), "left").expect("a file");
        std::fs::create_dir_all(locked.join("deeper")).expect("a directory");
        set_permissions(&locked, Permissions::from_mode(0o000)).expect("a mode");
        assert_eq!(home.remove(), None);
        assert!(!path.exists());
    }
}
