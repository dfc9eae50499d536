//! Bounded reading of files that may hold anything.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The whole of a file; nothing if it is larger than `limit` bytes.
///
/// # Errors
///
/// When the file cannot be opened or read.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > limit {
        return Ok(None);
    }
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The file may grow meanwhile, or be a device whose size is said to be zero.
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= limit).then_some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_is_bounded_also_where_no_size_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, [1; 10]).unwrap();
        assert_eq!(read_bounded(&path, 10).unwrap().as_deref(), Some(&[1; 10][..]));
        std::fs::write(&path, [1; 11]).unwrap();
        assert_eq!(read_bounded(&path, 10).unwrap(), None);
        assert_eq!(read_bounded(Path::new("/dev/zero"), 10).unwrap(), None);
        assert!(read_bounded(&directory.path().join("none"), 10).is_err());
    }
}
