//! The devices of a machine: what the agent loads for them, and what it waits for.

use serde::{Deserialize, Serialize};

/// The file of the initramfs with [`Devices`]; without it the machine has none that the agent would have to care about.
pub const DESCRIPTION: &str = "/kiln/devices";

/// What drives the devices of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    /// Paths of modules in the initramfs, to be loaded in this order.
    pub modules: Vec<String>,
    /// Disks that the machine has. Most drivers look for theirs later, so the agent waits until they are there.
    pub disks: u32,
}

impl Devices {
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
        let devices = Devices { modules: vec!["/lib/modules/nvme.ko".into()], disks: 2 };
        assert_eq!(Devices::decode(&devices.encode().expect("plain data")), Ok(devices));
        assert!(Devices::decode(b"\xff").is_err());
    }
}
