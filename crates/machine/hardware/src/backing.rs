//! What of this host is behind a device.

use std::path::PathBuf;

/// Something that has to be opened, or made, before the machine starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backing {
    /// An empty file without a name that seems to have so many bytes.
    Empty(u64),
    /// A file without a name that holds this.
    Content(Vec<u8>),
    /// A file to read.
    Read(PathBuf),
    /// A file to read and write: what is written stays.
    Write(PathBuf),
    /// A file to read and write that is new, or emptied.
    New(PathBuf),
    /// A file without a name that begins as a copy of this one.
    Copy(PathBuf),
    /// A socket to the segment of this name: each datagram is a frame.
    Segment(String),
    /// A stream to the lab, by this name.
    Lab(String),
    /// The control connection of a new TPM.
    Tpm,
}

impl Backing {
    /// Whether it is in a file where nothing runs beside QEMU.
    #[must_use]
    pub fn is_file(&self) -> bool {
        match self {
            Self::Empty(_) | Self::Read(_) | Self::Write(_) | Self::New(_) | Self::Copy(_) => true,
            Self::Content(_) | Self::Segment(_) | Self::Lab(_) | Self::Tpm => false,
        }
    }
}

/// Where a machine finds a backing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// It inherits a descriptor.
    Descriptor(i32),
    /// In a file.
    File(String),
}

impl Place {
    /// The path by which QEMU opens it.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Descriptor(number) => format!("/proc/self/fd/{number}"),
            Self::File(path) => path.clone(),
        }
    }
}
