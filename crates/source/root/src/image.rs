//! Images of file systems, which machines share and nobody writes to. kiln makes EROFS of directories.

use std::path::PathBuf;
use std::sync::Arc;

use kernel::Lease;

use crate::Filesystem;

/// A file that holds a file system.
#[derive(Debug, Clone)]
pub struct Image {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub filesystem: Filesystem,
    /// Keeps it in the store, if it is from there.
    pub lease: Option<Arc<Lease>>,
}

/// What makes images.
pub const MKFS: &str = "mkfs.erofs";

/// Its options: no compression, which emulated processors are slow to undo, and nothing that is different each time, so
/// that the same files give the same image.
pub(crate) const OPTIONS: [&str; 3] = ["--quiet", "-T0", "-U00000000-0000-0000-0000-000000000000"];

/// With these the files of an ordinary user's directory are root's in the machine.
pub(crate) const OWNED_BY_ROOT: [&str; 2] = ["--force-uid=0", "--force-gid=0"];
