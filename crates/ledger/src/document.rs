//! Writes a JSON document so that it is there as a whole or not at all.

use std::io;
use std::path::Path;

use serde::Serialize;

/// Writes `value` to `path` by way of a neighbour that is renamed.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    let part = path.with_extension("json.part");
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // Half a document is worse than none; the first error is the one that counts.
        let _ = std::fs::remove_file(&part);
    }
    written
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
