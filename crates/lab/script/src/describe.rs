//! What a machine is made of, as a script describes it: plain typed values.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::{KernelIndex, SegmentId};

/// A machine. What is not set is kiln's choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MachineDescription {
    /// Its kernel; the first if it is not set.
    pub kernel: Option<KernelIndex>,
    /// CPUs.
    pub cpus: Option<u32>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The user space, a locator of a root.
    pub root: Option<String>,
    /// Whether the systemd of the user space runs its services.
    pub systemd: Option<bool>,
    /// Kernel parameters after kiln's own.
    pub append: Option<String>,
    /// Disks, as on the command line: `4G,bus=nvme`.
    pub disks: Vec<String>,
    /// Network interfaces.
    pub nics: Vec<Nic>,
    /// Other devices, as on the command line: `iommu,intel`.
    pub devices: Vec<String>,
    /// ACPI tables in ASL.
    pub acpi: Vec<LabFile>,
    /// What is a hazard in it, as on the command line: `lock-spin>1000`.
    pub hazards: Vec<String>,
    /// Whether it may be a clone of a template; kiln decides if it is not set.
    pub clone: Option<bool>,
}

/// A segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SegmentDescription {
    /// What chance is drawn from; the seed of the run if it is not set.
    pub seed: Option<u64>,
    /// Its addresses, such as 10.77.0.0/24.
    pub network: Option<String>,
    /// Whether machines reach what this host reaches.
    pub outside: bool,
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

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nic {
    /// Its segment.
    pub segment: SegmentId,
    /// Its address; the next one of the segment if it is not set.
    pub address: Option<String>,
}

/// A file of the experiment's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabFile {
    /// Its path from there.
    pub path: String,
}
