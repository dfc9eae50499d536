//! The root of a machine: a user space beside the agent, out of an image that the machine sees as a disk.
//!
//! The agent mounts it before it says hello, so that a template holds it. What programs write goes to memory.

use serde::{Deserialize, Serialize};

/// The file of the initramfs that says what is to be mounted; without it the machine has no root.
pub const DESCRIPTION: &str = "/kiln/root";

/// Files below this directory of the initramfs or of the [`crate::window`] are for the root, where programs see them
/// without this prefix.
pub const LAYER: &str = "/kiln/layer";

/// Where the agent sees what programs see at `/`.
pub const VIEW: &str = "/kiln/view";

/// The serial number of the disk with the image, by which the agent finds it.
pub const SERIAL: &str = "kiln-root";

/// What the agent mounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootMount {
    /// The file system in the image: the type for mount(2).
    pub filesystem: String,
    /// Its options.
    pub options: String,
    /// Paths of modules in the initramfs, to be loaded in this order before.
    pub modules: Vec<String>,
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
        let mount = RootMount {
            filesystem: "erofs".into(),
            options: String::new(),
            modules: vec!["/lib/modules/erofs.ko".into()],
        };
        assert_eq!(RootMount::decode(&mount.encode().expect("plain data")), Ok(mount));
        assert!(RootMount::decode(b"\xff").is_err());
    }
}
