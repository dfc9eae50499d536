//! What is below a folder.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// All plain files below a folder with what they take on the disk; links are not followed.
pub(crate) fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => found.extend(files(&entry.path())),
            Ok(metadata) if metadata.is_file() => found.push((entry.path(), metadata.blocks() * 512)),
            _ => {}
        }
    }
    found
}
