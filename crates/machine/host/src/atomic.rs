//! Files that are there as a whole or not at all.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Mode of a new file, from which the user's umask is taken.
const MODE: u32 = 0o666;

/// Writes `bytes` to `path`: to a temporary file beside it, which is renamed when it is complete. Of several processes
/// that write the same path at once the last one wins; nobody ever reads a mixture or a half.
///
/// # Errors
///
/// When the folder does not exist or the host refuses; nothing is left behind then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let permissions = Permissions::from_mode(MODE);
    let mut part = tempfile::Builder::new()
        .prefix(".kiln-part-")
        .permissions(permissions)
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
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
