//! What a machine is made of, as a script describes it: plain typed values.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{KernelIndex, SegmentId};
use crate::kind::Kind;
use crate::signature::{Gives, Signature, optional, required};

/// A machine. What is not set is kiln's choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MachineDescription {
    /// Its kernel; the first if it is not set.
    pub kernel: Option<KernelIndex>,
    /// CPUs.
    pub cpus: Option<u32>,
    /// The model of the CPUs, in QEMU's words.
    pub cpu: Option<String>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The user space, a locator of a root.
    pub root: Option<String>,
    /// Kernel parameters after kiln's own.
    pub append: Option<String>,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Network interfaces.
    pub nics: Vec<Nic>,
    /// Other devices.
    pub devices: Vec<Device>,
    /// NUMA nodes.
    pub numa: Vec<Node>,
    /// The IOMMU: intel, amd or virtio.
    pub iommu: Option<String>,
    /// The firmware: seabios or ovmf.
    pub firmware: Option<String>,
    /// ACPI tables in ASL.
    pub acpi: Vec<LabFile>,
    /// The root's own init runs.
    pub systemd: bool,
    /// Whether it may be a clone of a template; kiln decides if it is not set.
    pub clone: Option<bool>,
}

/// A segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SegmentDescription {
    /// What chance is drawn from; the seed of the run if it is not set.
    pub seed: Option<u64>,
    /// What happens to frames in both directions.
    #[serde(flatten)]
    pub impairment: Impairment,
}

/// What happens to frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Impairment {
    /// How much later they arrive.
    #[serde(with = "judge::json::optional_seconds")]
    pub delay: Option<Duration>,
    /// By how much this varies.
    #[serde(with = "judge::json::optional_seconds")]
    pub jitter: Option<Duration>,
    /// The share that is lost.
    pub loss: Option<f64>,
    /// The share that arrives twice.
    pub duplicate: Option<f64>,
    /// The share that is overtaken.
    pub reorder: Option<f64>,
    /// The share in which a bit is wrong.
    pub corrupt: Option<f64>,
    /// Bytes each second.
    pub rate: Option<u64>,
}

/// A disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disk {
    /// Bytes.
    pub size: Option<u64>,
    /// How it is attached: virtio, scsi, nvme, ahci or usb; virtio if it is not set.
    pub bus: Option<String>,
    /// Bytes of a sector.
    pub sector: Option<u32>,
    /// The write cache: writeback, writethrough, none or unsafe.
    pub cache: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// Nothing can be written.
    pub readonly: bool,
    /// Faults that it has.
    pub errors: Vec<Fault>,
    /// How fast it may be.
    pub throttle: Option<Throttle>,
    /// All writes are logged in the format of dm-log-writes.
    pub log_writes: bool,
    /// What it holds in the beginning.
    pub image: Option<LabFile>,
    /// Its name for `unplug`.
    pub id: Option<String>,
}

/// A fault of a disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// What fails: read, write or flush.
    pub operation: String,
    /// The sector; all if it is not set.
    pub sector: Option<u64>,
    /// The error: EIO, ENOSPC or another of errno(3).
    pub error: Option<String>,
    /// Only the first time.
    pub once: bool,
}

/// How fast a disk may be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Throttle {
    /// Operations each second.
    pub iops: Option<u64>,
    /// Bytes each second.
    pub rate: Option<u64>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nic {
    /// Its segment.
    pub segment: SegmentId,
    /// Its address, with or without the length of the prefix.
    pub address: Option<String>,
    /// Its MAC address.
    pub mac: Option<String>,
    /// Its name for `unplug`.
    pub id: Option<String>,
}

/// A device of QEMU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Device {
    /// Its driver, in QEMU's words.
    pub driver: String,
    /// Its name for `unplug`.
    pub id: Option<String>,
    /// Its properties.
    pub properties: Map<String, Value>,
}

/// A NUMA node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// Its CPUs.
    pub cpus: u32,
    /// Its bytes of memory.
    pub memory: Option<u64>,
    /// How far each node is from it.
    pub distances: Vec<u32>,
}

/// A file of the experiment's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabFile {
    /// Its path from there.
    pub path: String,
}

/// The functions that describe.
pub(crate) const FUNCTIONS: &[Signature] = &[
    Signature {
        name: "disk",
        parameters: &[
            optional("size", Kind::Size),
            optional("bus", Kind::OneOf(&["virtio", "scsi", "nvme", "ahci", "usb"])),
            optional("sector", Kind::Count),
            optional("cache", Kind::OneOf(&["writeback", "writethrough", "none", "unsafe"])),
            optional("serial", Kind::Text),
            optional("readonly", Kind::Flag),
            optional("errors", Kind::List(&Kind::Described(&["fault"]))),
            optional("throttle", Kind::Described(&["throttle"])),
            optional("log_writes", Kind::Flag),
            optional("image", Kind::Described(&["file"])),
            optional("id", Kind::Text),
        ],
        rest: None,
        gives: Gives::Nothing,
        about: "describes a disk",
    },
    Signature {
        name: "fault",
        parameters: &[
            required("operation", Kind::OneOf(&["read", "write", "flush"])),
            optional("sector", Kind::Count),
            optional("error", Kind::Text),
            optional("once", Kind::Flag),
        ],
        rest: None,
        gives: Gives::Nothing,
        about: "describes a fault of a disk",
    },
    Signature {
        name: "throttle",
        parameters: &[optional("iops", Kind::Count), optional("rate", Kind::Size)],
        rest: None,
        gives: Gives::Nothing,
        about: "describes how fast a disk may be",
    },
    Signature {
        name: "device",
        parameters: &[required("driver", Kind::Text), optional("id", Kind::Text)],
        rest: Some("properties"),
        gives: Gives::Nothing,
        about: "describes a device in QEMU's words",
    },
    Signature {
        name: "node",
        parameters: &[
            required("cpus", Kind::Count),
            optional("memory", Kind::Size),
            optional("distances", Kind::List(&Kind::Count)),
        ],
        rest: None,
        gives: Gives::Nothing,
        about: "describes a NUMA node",
    },
];

/// Checks the fields of a description against its type.
pub(crate) fn check(kind: &str, fields: &Map<String, Value>) -> Result<(), String> {
    let value = Value::Object(fields.clone());
    let checked = match kind {
        "disk" => serde_json::from_value::<Disk>(value).map(drop),
        "fault" => serde_json::from_value::<Fault>(value).map(drop),
        "throttle" => serde_json::from_value::<Throttle>(value).map(drop),
        "device" => serde_json::from_value::<Device>(value).map(drop),
        "node" => serde_json::from_value::<Node>(value).map(drop),
        "nic" => serde_json::from_value::<Nic>(value).map(drop),
        _ => Ok(()),
    };
    checked.map_err(|error| error.to_string())
}
