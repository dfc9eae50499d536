//! What is asked of a machine from outside: nothing in it has a part in this.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
        /// What, as on the command line.
        device: String,
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
    /// The tasks of the kernel, by the machine's memory.
    Tasks {},
    /// Where it was stopped because it waited for too long.
    Hazards {},
    /// Stop all CPUs.
    Pause {},
    /// Let the CPUs go on.
    Resume {},
    /// Take the power away, and start the machine again.
    PowerCut {
        /// How long to wait for the agent.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Keep the state of the machine, in memory.
    Snapshot {
        /// Its name; there is a usual one.
        #[serde(default)]
        name: Option<String>,
    },
    /// Put the machine back into a state that was kept.
    Restore {
        /// Its name; there is a usual one.
        #[serde(default)]
        name: Option<String>,
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
    /// What has come from a serial port since the last time.
    Receive {
        /// The name of the port.
        port: String,
    },
    /// Send something to a serial port.
    Transmit {
        /// The name of the port.
        port: String,
        /// What.
        text: String,
    },
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
        parameters: &[required("device", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "plugs a device in",
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
    Signature {
        name: "tasks",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Plain,
        about: "the tasks of the kernel with their calls, read from the machine's memory",
    },
    Signature {
        name: "hazards",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Plain,
        about: "the stops so far of a machine that is watched for hazards",
    },
    outcome("pause", "stops all CPUs"),
    outcome("resume", "lets the CPUs go on"),
    Signature {
        name: "power_cut",
        parameters: &[optional("timeout", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "takes the power away, and starts the machine again",
    },
    Signature {
        name: "snapshot",
        parameters: &[optional("name", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "keeps the state of the machine, memory, devices and empty disks",
    },
    Signature {
        name: "restore",
        parameters: &[optional("name", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "puts the machine back into that state",
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
        name: "receive",
        parameters: &[required("port", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "what has come from a serial port since the last time",
    },
    Signature {
        name: "transmit",
        parameters: &[required("port", Kind::Text), required("text", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "sends a text to a serial port",
    },
];

const fn outcome(name: &'static str, about: &'static str) -> Signature {
    Signature { name, parameters: &[ALLOW], rest: None, gives: Gives::Outcome, about }
}
