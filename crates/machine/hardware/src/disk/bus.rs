//! The controllers that disks are attached to.

use std::fmt;
use std::str::FromStr;

use protocol::Need;
use serde::{Deserialize, Serialize};

use super::Disk;

/// How a disk is attached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bus {
    /// `virtio-blk`: a device for each disk.
    #[default]
    Virtio,
    /// `virtio-scsi`: a controller for all.
    Scsi,
    /// NVMe: a controller for each.
    Nvme,
    /// SATA.
    Ahci,
    /// USB storage at an xHCI controller.
    Usb,
}

/// All of them.
pub(crate) const ALL: [Bus; 5] = [Bus::Virtio, Bus::Scsi, Bus::Nvme, Bus::Ahci, Bus::Usb];

/// What a user can write.
pub(crate) const EXPECTED: &str = "virtio, scsi, nvme, ahci or usb";

/// Disks at one SATA controller: QEMU's ICH9 has six ports.
const AHCI_PORTS: usize = 6;

impl Bus {
    fn name(self) -> &'static str {
        match self {
            Self::Virtio => "virtio",
            Self::Scsi => "scsi",
            Self::Nvme => "nvme",
            Self::Ahci => "ahci",
            Self::Usb => "usb",
        }
    }

    /// Modules behind it.
    pub(crate) fn needs(self) -> Vec<Need<String>> {
        let names: &[&str] = match self {
            Self::Virtio => &["virtio_pci", "virtio_blk"],
            Self::Scsi => &["virtio_pci", "virtio_scsi", "sd_mod"],
            Self::Nvme => &["nvme"],
            Self::Ahci => &["ahci", "sd_mod"],
            Self::Usb => &["xhci_pci", "usb_storage", "sd_mod"],
        };
        names.iter().map(|name| Need::Module((*name).to_string())).collect()
    }

    /// The controller for the disk with this number on its bus, if that disk is the first that needs it.
    pub(crate) fn controller(self, number: usize, virtio: &str) -> Vec<String> {
        let device = match (self, number) {
            (Self::Scsi, 0) => format!("virtio-scsi-pci{virtio},id=scsi"),
            (Self::Usb, 0) => "qemu-xhci,id=usb".to_string(),
            (Self::Ahci, number) if number.is_multiple_of(AHCI_PORTS) => {
                format!("ich9-ahci,id=ahci{}", number / AHCI_PORTS)
            }
            _ => return Vec::new(),
        };
        vec!["-device".to_string(), device]
    }

    /// The device of `disk` on the node of this name; it has this number on its bus.
    pub(crate) fn device(self, disk: &Disk, node: &str, number: usize, virtio: &str) -> String {
        let device = match self {
            Self::Virtio => format!("virtio-blk-pci{virtio}"),
            Self::Scsi => "scsi-hd,bus=scsi.0".to_string(),
            Self::Nvme => "nvme".to_string(),
            Self::Ahci => format!("ide-hd,bus=ahci{}.{}", number / AHCI_PORTS, number % AHCI_PORTS),
            Self::Usb => "usb-storage,bus=usb.0".to_string(),
        };
        // An NVMe controller must have a serial number.
        let usual = (self == Self::Nvme).then(|| node.to_string());
        let serial =
            disk.serial.clone().or(usual).map(|serial| format!(",serial={serial}")).unwrap_or_default();
        let sector = disk
            .sector
            .map(|bytes| format!(",logical_block_size={bytes},physical_block_size={bytes}"))
            .unwrap_or_default();
        let cache = if disk.writethrough { ",write-cache=off" } else { "" };
        let shared = if disk.shared { ",share-rw=on" } else { "" };
        format!("{device},id={node},drive={node}-top{serial}{sector}{cache}{shared}")
    }
}

impl fmt::Display for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Bus {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        ALL.into_iter().find(|bus| bus.name() == text).ok_or(())
    }
}
