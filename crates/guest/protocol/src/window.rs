//! How programs come into a machine that is up: through a window, memory of a PCI device that the host fills before
//! a clone starts.
//!
//! It begins with [`MAGIC`], the length of the table and the length of all that is in use (u64 each, little endian).
//! The table follows, the binary form of a list of [`Entry`], and then the contents of the files.

use serde::{Deserialize, Serialize};

/// The first bytes of a window that is filled.
pub const MAGIC: [u8; 8] = *b"kilnload";

/// Size of the window in bytes: a power of two, as every range of a PCI device. What is larger would take each clone as
/// long as a good part of a boot.
pub const WINDOW_SIZE: usize = 64 << 20;

/// Where the memory begins through which a recording leaves the machine, if the programs leave it free: [`crate::trace::ring`].
pub const RECORDING: usize = WINDOW_SIZE - crate::trace::ring::MACHINE_SIZE;

/// Where the table begins.
pub const TABLE: usize = 24;

/// Vendor and device of QEMU's `ivshmem-plain`, as sysfs shows them.
pub const DEVICE: [&str; 2] = ["0x1af4", "0x1110"];

/// One thing to be made, in the order of the table: directories come before what is in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its absolute path. What is there already is kept instead.
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A plain file.
    File {
        /// The lower nine bits of its mode.
        permissions: u32,
        /// Where its content begins, in bytes from the begin of the window.
        start: u64,
        /// Size of its content in bytes.
        length: u64,
    },
    /// A symbolic link to this target.
    Link(String),
}

/// How much of a window is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of the table.
    pub table: usize,
    /// Bytes from the begin to the end of the last content.
    pub total: usize,
}

impl Extent {
    /// The first bytes of a window with this extent.
    #[must_use]
    pub fn header(self) -> Vec<u8> {
        [MAGIC, (self.table as u64).to_le_bytes(), (self.total as u64).to_le_bytes()].concat()
    }

    /// Reads the first bytes of a window; nothing if they are no header or promise more than there can be.
    #[must_use]
    pub fn read(header: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = header.get(at..at + 8)?.try_into().ok()?;
            usize::try_from(u64::from_le_bytes(bytes)).ok()
        };
        let extent = Self { table: number(8)?, total: number(16)? };
        let fits = extent.total <= WINDOW_SIZE && extent.table <= extent.total.checked_sub(TABLE)?;
        (header.starts_with(&MAGIC) && fits).then_some(extent)
    }
}

/// The table of a window.
///
/// # Errors
///
/// When it has no binary form.
pub fn encode(table: &[Entry]) -> postcard::Result<Vec<u8>> {
    postcard::to_stdvec(table)
}

/// Reads a table.
///
/// # Errors
///
/// When it is none.
pub fn decode(bytes: &[u8]) -> postcard::Result<Vec<Entry>> {
    postcard::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_comes_back_and_one_that_promises_too_much_does_not() {
        let extent = Extent { table: 100, total: 5000 };
        assert_eq!(Extent::read(&extent.header()), Some(extent));
        for wrong in [
            Extent { table: 100, total: 123 },
            Extent { table: usize::MAX, total: 5000 },
            Extent { table: 100, total: WINDOW_SIZE + 1 },
            Extent { table: 0, total: 23 },
        ] {
            assert_eq!(Extent::read(&wrong.header()), None, "{wrong:?}");
        }
        assert_eq!(Extent::read(&[0; TABLE]), None, "nobody filled it");
        assert_eq!(Extent::read(&extent.header()[..20]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(mut bytes: Vec<u8>) {
            let _ = decode(&bytes);
            bytes.splice(0..0, MAGIC);
            let extent = Extent::read(&bytes);
            prop_assert!(extent.is_none_or(|extent| extent.total <= WINDOW_SIZE));
        }

        #[test]
        fn a_table_comes_back(path: String, start: u64, length: u64) {
            let file = Kind::File { permissions: 0o755, start, length };
            let kinds = [Kind::Directory, file, Kind::Link(path.clone())];
            let table: Vec<_> = kinds.map(|kind| Entry { path: path.clone(), kind }).into();
            prop_assert_eq!(decode(&encode(&table).expect("plain data")), Ok(table));
        }
    }
}
