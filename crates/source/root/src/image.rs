//! Images of file systems, which machines share and nobody writes to. kiln makes EROFS of directories.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::Lease;

use crate::{Error, Filesystem};

/// A file that holds a file system.
#[derive(Debug, Clone)]
pub struct Image {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub filesystem: Filesystem,
    /// Its size in bytes.
    pub size: u64,
    /// What machines see it as.
    pub medium: Medium,
    /// Keeps it in the store, if it is from there.
    pub lease: Option<Arc<Lease>>,
}

/// What a machine sees an image as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A disk.
    Disk,
    /// Persistent memory, which is read without asking the host: Documentation/driver-api/nvdimm/nvdimm.rst.
    Memory,
}

/// Linux maps persistent memory in sections of this size, in bytes: Documentation/mm/memory-model.rst.
const SECTION: u64 = 2 << 20;

impl Image {
    /// The same as memory.
    pub(crate) fn in_memory(self) -> Result<Self, Error> {
        match self.size.is_multiple_of(SECTION) {
            true => Ok(Self { medium: Medium::Memory, ..self }),
            false => Err(Error::Unaligned { path: self.path }),
        }
    }
}

/// Makes the image at `path` as large as it must be to become memory; gives that size.
pub(crate) fn pad(path: &Path) -> Result<u64, Error> {
    let file = File::options().write(true).open(path).map_err(Error::io("open", path))?;
    let size = file.metadata().map_err(Error::io("find", path))?.len().next_multiple_of(SECTION);
    file.set_len(size).map_err(Error::io("resize", path))?;
    Ok(size)
}

/// What makes images.
pub const MKFS: &str = "mkfs.erofs";

/// Its options: no compression, which emulated processors are slow to undo, and nothing that is different each time, so
/// that the same files give the same image.
pub(crate) const OPTIONS: [&str; 3] = ["--quiet", "-T0", "-U00000000-0000-0000-0000-000000000000"];

/// With these the files of an ordinary user's directory are root's in the machine.
pub(crate) const OWNED_BY_ROOT: [&str; 2] = ["--force-uid=0", "--force-gid=0"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padded_image_becomes_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        for (before, after) in [(1, SECTION), (SECTION, SECTION), (SECTION + 4096, 2 * SECTION)] {
            File::create(&path).unwrap().set_len(before).unwrap();
            let image = |size| Image {
                path: path.clone(),
                filesystem: Filesystem::Erofs,
                size,
                medium: Medium::Disk,
                lease: None,
            };
            assert_eq!(image(before).in_memory().is_ok(), before == after);
            assert_eq!(pad(&path).unwrap(), after);
            assert_eq!(path.metadata().unwrap().len(), after);
            assert_eq!(image(after).in_memory().unwrap().medium, Medium::Memory);
        }
    }
}
