//! Writes a JSON document so that it is there as a whole or not at all.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Serialize;

/// Mode of a new file, from which the user's umask is taken.
const MODE: u32 = 0o666;

/// Writes `value` to `path` by way of a neighbour that is renamed. The neighbour has a name that nobody else has: two
/// writers of one document do not mix, and the last one wins.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    let folder = path.parent().unwrap_or(Path::new("."));
    let permissions = Permissions::from_mode(MODE);
    let mut part = tempfile::Builder::new().prefix(".part-").permissions(permissions).tempfile_in(folder)?;
    part.write_all(&bytes)?;
    // Half a document is worse than none: what is not renamed is removed.
    part.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_cannot_be_written_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x.json");
        std::fs::create_dir(&path).expect("in the way");
        assert!(write(&path, &1).is_err());
        let names: Vec<_> = std::fs::read_dir(&directory)
            .expect("readable")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(names, ["x.json"]);
    }
}
