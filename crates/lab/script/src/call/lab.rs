//! What is asked of the laboratory itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::data::ObjectKind;
use crate::describe::{MachineDescription, SegmentDescription};
use crate::kind::Kind;
use crate::signature::{ALLOW, Gives, Signature, optional, required};

/// What is asked of the laboratory itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LabCall {
    /// Boot or clone a machine, and wait for its agent.
    Machine(Box<MachineDescription>),
    /// Make a segment.
    Segment(SegmentDescription),
    /// Wait.
    Sleep {
        /// How long.
        #[serde(with = "judge::json::seconds")]
        time: Duration,
    },
}

/// The methods that are calls.
pub(crate) const METHODS: &[Signature] = &[
    Signature {
        name: "machine",
        parameters: &[
            optional("kernel", Kind::Object(ObjectKind::Kernel)),
            optional("cpus", Kind::Count),
            optional("memory", Kind::Size),
            optional("root", Kind::Text),
            optional("systemd", Kind::Flag),
            optional("append", Kind::Text),
            optional("disks", Kind::List(&Kind::Text)),
            optional("nics", Kind::List(&Kind::Described(&["nic"]))),
            optional("devices", Kind::List(&Kind::Text)),
            optional("acpi", Kind::List(&Kind::Described(&["file"]))),
            optional("hazards", Kind::OneOrMore(&Kind::Text)),
            optional("clone", Kind::Flag),
            ALLOW,
        ],
        rest: None,
        gives: Gives::Object(ObjectKind::Machine),
        about: "boots or clones a machine and waits for its agent",
    },
    Signature {
        name: "segment",
        parameters: &[
            optional("seed", Kind::Count),
            optional("network", Kind::Text),
            optional("outside", Kind::Flag),
            optional("delay", Kind::Time),
            optional("jitter", Kind::Time),
            optional("loss", Kind::Share),
            optional("duplicate", Kind::Share),
            optional("reorder", Kind::Share),
            optional("corrupt", Kind::Share),
            optional("rate", Kind::Size),
        ],
        rest: None,
        gives: Gives::Object(ObjectKind::Segment),
        about: "makes an Ethernet between machines",
    },
    Signature {
        name: "sleep",
        parameters: &[required("time", Kind::Time)],
        rest: None,
        gives: Gives::Nothing,
        about: "waits",
    },
];
