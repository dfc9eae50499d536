//! Why a file is not a kernel image that can be booted here.

/// What is wrong with a file that was given as a kernel image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// No bytes at all.
    #[error("is an empty file, not a kernel image: build or copy it again")]
    Empty,
    /// The end is missing.
    #[error("is a truncated kernel image, {missing} bytes are missing: copy or build it again")]
    Truncated {
        /// How many bytes its own header promises beyond the end.
        missing: u64,
    },
    /// A kernel for another machine.
    #[error("is for another architecture ({0}): give a kernel for 64-bit x86")]
    OtherArchitecture(String),
    /// Compressed as a whole.
    #[error("is a compressed file ({0}), not a kernel image: decompress it first")]
    Compressed(&'static str),
    /// Something to read.
    #[error("is a text file, not a kernel image: give the bzImage")]
    Text,
    /// A vmlinux that QEMU has no way into.
    #[error("is a vmlinux without a PVH entry (CONFIG_PVH), which QEMU cannot boot: give the bzImage")]
    NoPvhEntry,
    /// A kernel from before the hand-over that kiln uses.
    #[error("uses boot protocol {major}.{minor:02}, older than 2.12: give Linux 3.8 or later")]
    OldProtocol {
        /// Before the point.
        major: u8,
        /// After the point.
        minor: u8,
    },
    /// Neither file nor directory.
    #[error("is not a regular file: give the bzImage")]
    NotAFile,
    /// Something else that could be recognised.
    #[error("is {0}, not a kernel image: give the bzImage")]
    Other(&'static str),
    /// Nothing that could be recognised.
    #[error("is not a kernel image of any known format: give the bzImage")]
    Unknown,
}
