//! What an image holds, by its magic number.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A file system that a stock kernel reads from a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filesystem {
    /// Documentation/filesystems/erofs.rst
    Erofs,
    /// Documentation/filesystems/squashfs.rst
    Squashfs,
    /// Also ext2 and ext3, which its driver reads.
    Ext4,
    /// Documentation/admin-guide/xfs.rst
    Xfs,
    /// Documentation/filesystems/btrfs.rst
    Btrfs,
}

/// Magic numbers of superblocks: linux/magic.h.
const MAGIC: [(Filesystem, u64, &[u8]); 5] = [
    (Filesystem::Erofs, 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    (Filesystem::Squashfs, 0, b"hsqs"),
    (Filesystem::Ext4, 1024 + 0x38, &[0x53, 0xef]),
    (Filesystem::Xfs, 0, b"XFSB"),
    (Filesystem::Btrfs, 0x1_0040, b"_BHRfS_M"),
];

impl Filesystem {
    /// What the file holds; nothing if that is none of these.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        for (filesystem, offset, magic) in MAGIC {
            let mut found = vec![0; magic.len()];
            match file.read_exact_at(&mut found, offset) {
                Ok(()) if found == magic => return Ok(Some(filesystem)),
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Its name for mount(2), and of its module.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Erofs => "erofs",
            Self::Squashfs => "squashfs",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// With these it is mounted without a write to the disk, which other machines read: a journal is not replayed.
    #[must_use]
    pub fn options(self) -> &'static str {
        match self {
            Self::Erofs | Self::Squashfs => "",
            Self::Ext4 => "noload",
            Self::Xfs => "norecovery,nouuid",
            Self::Btrfs => "rescue=nologreplay",
        }
    }
}

impl fmt::Display for Filesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_superblock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        for (filesystem, offset, magic) in MAGIC {
            let mut image = vec![0; 128 << 10];
            let at = usize::try_from(offset).unwrap();
            image[at..at + magic.len()].copy_from_slice(magic);
            std::fs::write(&path, image).unwrap();
            assert_eq!(Filesystem::of(&path).unwrap(), Some(filesystem));
        }
        for content in [&b""[..], b"hsq", &[0; 4096]] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(Filesystem::of(&path).unwrap(), None);
        }
        assert!(Filesystem::of(directory.path()).is_err());
    }
}
