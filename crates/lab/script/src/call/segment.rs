//! What is asked of a segment.

use serde::{Deserialize, Serialize};

use crate::data::ObjectKind;
use crate::describe::Impairment;
use crate::id::MachineId;
use crate::kind::Kind;
use crate::signature::{ALLOW, Gives, Signature, optional};

/// What is asked of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentCall {
    /// From now on treat frames like this; what is not set is as in the beginning.
    Impair {
        /// Only frames of this machine.
        #[serde(default)]
        sender: Option<MachineId>,
        /// Only frames to this machine.
        #[serde(default)]
        receiver: Option<MachineId>,
        /// How.
        #[serde(flatten)]
        impairment: Impairment,
    },
    /// Let no frame pass between two machines, or to and from one, or at all.
    Cut {
        /// One machine.
        #[serde(default)]
        a: Option<MachineId>,
        /// The other.
        #[serde(default)]
        b: Option<MachineId>,
    },
    /// Undo all cuts.
    Heal {},
    /// What was sent, lost, delayed.
    Statistics {},
    /// Keep the frames since the beginning with the Run.
    Capture {},
}

const MACHINE: Kind = Kind::Object(ObjectKind::Machine);

/// The methods.
pub(crate) const METHODS: &[Signature] = &[
    Signature {
        name: "impair",
        parameters: &[
            optional("sender", MACHINE),
            optional("receiver", MACHINE),
            optional("delay", Kind::Time),
            optional("jitter", Kind::Time),
            optional("loss", Kind::Share),
            optional("duplicate", Kind::Share),
            optional("reorder", Kind::Share),
            optional("corrupt", Kind::Share),
            optional("rate", Kind::Size),
        ],
        rest: None,
        gives: Gives::Outcome,
        about: "loses, delays or changes frames from now on",
    },
    Signature {
        name: "cut",
        parameters: &[optional("a", MACHINE), optional("b", MACHINE)],
        rest: None,
        gives: Gives::Outcome,
        about: "lets no frame pass between two machines, of one, or at all",
    },
    Signature { name: "heal", parameters: &[], rest: None, gives: Gives::Outcome, about: "undoes all cuts" },
    Signature {
        name: "statistics",
        parameters: &[],
        rest: None,
        gives: Gives::Plain,
        about: "counts of frames by what happened to them",
    },
    Signature {
        name: "capture",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "keeps the frames with the Run, and gives the name of the file",
    },
];

/// A description of an interface, which needs no call.
pub(crate) const NIC: Signature = Signature {
    name: "nic",
    parameters: &[optional("address", Kind::Text)],
    rest: None,
    gives: Gives::Nothing,
    about: "describes an interface of a machine on this segment",
};
