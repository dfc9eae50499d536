//! The root of a machine: a user space beside the agent, out of an image that the machine sees as a disk, or out of
//! directories of the host.
//!
//! The agent mounts a disk before it says hello, so that a template holds it, and directories of the host after that. What
//! programs write goes to memory, but for directories of the host that they may write to.

use serde::{Deserialize, Serialize};

/// The file of the initramfs that says what is to be mounted; without it the machine has no root.
pub const DESCRIPTION: &str = "/kiln/root";

/// Files below this directory of the initramfs or of the [`crate::window`] are for the root, where programs see them
/// without this prefix.
pub const LAYER: &str = "/kiln/layer";

/// The directory of the root in which a user's program is.
pub const PROGRAMS: &str = "/usr/local/bin";

/// Where the agent sees what programs see at `/`.
pub const VIEW: &str = "/kiln/view";

/// File systems of the machine that the root has too: what is in these directories of a root is not seen.
pub const SHARED: [&str; 5] = ["/dev", "/proc", "/sys", "/run", "/tmp"];

/// The serial number of the disk with the image, by which the agent finds it.
pub const SERIAL: &str = "kiln-root";

/// What the agent mounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootMount {
    /// Paths of modules in the initramfs, to be loaded in this order before.
    pub modules: Vec<String>,
    /// What programs read: mounted read-only, with an overlay in memory over it.
    pub lower: Mount,
    /// File systems that programs may write to, and their directories in the root.
    pub writable: Vec<(String, Mount)>,
    /// Only a machine of its own mounts it: QEMU does not clone one that has mounted a directory of the host.
    pub late: bool,
    /// The root's own init runs its services, which it must have started after this time, in milliseconds.
    pub services_ms: Option<u64>,
}

/// A file system for mount(2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Where it is.
    pub source: Source,
    /// Its type.
    pub filesystem: String,
    /// Its options.
    pub options: String,
}

/// Where a file system is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// On the disk with the serial number [`SERIAL`].
    Disk,
    /// Whatever its driver makes of this name.
    Name(String),
}

impl RootMount {
    /// The content of [`DESCRIPTION`].
    ///
    /// # Errors
    ///
    /// When it has no binary form.
    pub fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }

    /// Reads the content of [`DESCRIPTION`].
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn decode(bytes: &[u8]) -> postcard::Result<Self> {
        postcard::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_comes_back() {
        let lower = Mount { source: Source::Disk, filesystem: "erofs".into(), options: String::new() };
        let shared = Mount {
            source: Source::Name("tag".into()),
            filesystem: "9p".into(),
            options: "cache=mmap".into(),
        };
        let mount = RootMount {
            modules: vec!["/lib/modules/erofs.ko".into()],
            lower,
            writable: vec![("/srv".into(), shared)],
            late: true,
            services_ms: Some(1),
        };
        assert_eq!(RootMount::decode(&mount.encode().expect("plain data")), Ok(mount));
        assert!(RootMount::decode(b"\xff").is_err());
    }
}
