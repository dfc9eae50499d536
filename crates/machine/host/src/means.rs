//! What this host has: programs, memory, space.

use std::path::{Path, PathBuf};

/// A program in the user's PATH.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// Memory that the host can still give, in MiB: `MemAvailable` of proc_meminfo(5).
#[must_use]
pub fn available_memory_mib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? >> 10)
}

/// MiB that the file system of a path, or of its nearest ancestor that exists, has left for this user.
#[must_use]
pub fn free_mib(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|path| path.exists())?;
    let system = rustix::fs::statvfs(existing).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize) >> 20)
}

/// Whether this user may write there, or make the folder in its nearest ancestor that exists.
#[must_use]
pub fn is_writable(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    let existing = path.ancestors().find(|path| path.exists());
    existing.is_some_and(|path| path.is_dir() && access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_shell_memory_and_space() {
        assert!(find_program("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find_program("no-such-program-here"), None);
        assert!(available_memory_mib().is_some_and(|mib| mib > 0));
        assert_eq!(free_mib(Path::new("/no/such/place")), free_mib(Path::new("/")));
    }

    #[test]
    fn a_folder_is_writable_if_it_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_writable(folder.path()) && is_writable(&folder.path().join("new/folder")));
        // Not even root writes there.
        assert!(!is_writable(Path::new("/proc/sys/new")) && !is_writable(Path::new("/dev/null/x")));
    }
}
