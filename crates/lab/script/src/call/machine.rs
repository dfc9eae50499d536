//! What is asked of a machine from outside: nothing in it has a part in this.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::ObjectKind;
use crate::describe::{Device, Disk, Nic};
use crate::id::SnapshotId;
use crate::kind::Kind;
use crate::signature::{ALLOW, Gives, Signature, optional, required};

/// What is asked of a machine from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MachineCall {
    /// A command of QEMU's monitor.
    Qmp {
        /// Its name.
        command: String,
        /// Its arguments.
        #[serde(default)]
        arguments: Map<String, Value>,
    },
    /// Plug something in.
    Plug {
        /// What.
        device: Plug,
    },
    /// Pull something out.
    Unplug {
        /// The `id` of what is pulled.
        device: String,
    },
    /// Inject a non-maskable interrupt.
    Nmi {},
    /// The registers of the CPUs.
    Registers {},
    /// Stop all CPUs.
    Pause {},
    /// Let the CPUs go on.
    Resume {},
    /// Keep the state of the machine.
    Snapshot {},
    /// Go back to a state.
    Restore {
        /// Which.
        snapshot: SnapshotId,
    },
    /// Take the power away, and start the machine again.
    PowerCut {
        /// How long to wait for the agent.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Keep the memory with the Run.
    Dump {},
    /// Read physical memory.
    Memory {
        /// Where.
        address: u64,
        /// How many bytes.
        length: u32,
    },
    /// Set the guest's clock forward.
    AdvanceClock {
        /// By how much.
        #[serde(with = "judge::json::seconds")]
        by: Duration,
    },
}

/// What can be plugged in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plug {
    /// A disk.
    Disk(Disk),
    /// A network interface.
    Nic(Nic),
    /// Anything else.
    Device(Device),
}

/// The methods.
pub(crate) const METHODS: &[Signature] = &[
    Signature {
        name: "qmp",
        parameters: &[required("command", Kind::Text), ALLOW],
        rest: Some("arguments"),
        gives: Gives::Plain,
        about: "a command of QEMU's monitor, and its answer",
    },
    Signature {
        name: "plug",
        parameters: &[required("device", Kind::Described(&["disk", "nic", "device"])), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "plugs a disk, an interface or a device in",
    },
    Signature {
        name: "unplug",
        parameters: &[required("device", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "pulls out what has this id",
    },
    outcome("nmi", "injects a non-maskable interrupt"),
    Signature {
        name: "registers",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Plain,
        about: "the registers of each CPU",
    },
    outcome("pause", "stops all CPUs"),
    outcome("resume", "lets the CPUs go on"),
    Signature {
        name: "snapshot",
        parameters: &[],
        rest: None,
        gives: Gives::Object(ObjectKind::Snapshot),
        about: "keeps the state of the machine",
    },
    Signature {
        name: "restore",
        parameters: &[required("snapshot", Kind::Object(ObjectKind::Snapshot)), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "goes back to a state",
    },
    Signature {
        name: "power_cut",
        parameters: &[optional("timeout", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "takes the power away, and starts the machine again",
    },
    Signature {
        name: "dump",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "keeps the memory with the Run, and gives the name of the file",
    },
    Signature {
        name: "memory",
        parameters: &[required("address", Kind::Count), required("length", Kind::Count), ALLOW],
        rest: None,
        gives: Gives::Plain,
        about: "bytes of physical memory, as a list of numbers",
    },
    Signature {
        name: "advance_clock",
        parameters: &[required("by", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "sets the guest's clock forward",
    },
];

const fn outcome(name: &'static str, about: &'static str) -> Signature {
    Signature { name, parameters: &[ALLOW], rest: None, gives: Gives::Outcome, about }
}
