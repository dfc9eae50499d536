//! What a script asks of its machines: one typed call for each method.

pub mod guest;
pub mod job;
pub mod lab;
pub mod machine;
pub mod segment;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::ObjectKind;
use crate::id::{JobId, MachineId, SegmentId};
use crate::signature::Signature;
use crate::source::Position;
use crate::trouble::ErrorName;

pub use guest::{GuestCall, Place};
pub use job::JobCall;
pub use lab::LabCall;
pub use machine::MachineCall;
pub use segment::SegmentCall;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// Of the laboratory.
    Lab(LabCall),
    /// Of the agent in a machine.
    Guest {
        /// The machine.
        machine: MachineId,
        /// What.
        call: GuestCall,
    },
    /// Of a machine, from outside.
    Machine {
        /// The machine.
        machine: MachineId,
        /// What.
        call: MachineCall,
    },
    /// Of a command that was started.
    Job {
        /// The command.
        job: JobId,
        /// What.
        call: JobCall,
    },
    /// Of a segment.
    Segment {
        /// The segment.
        segment: SegmentId,
        /// What.
        call: SegmentCall,
    },
}

/// A call, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What is asked for.
    pub call: Call,
    /// The errors that the script allows.
    pub allow: Vec<ErrorName>,
    /// Where the script asks.
    pub at: Position,
    /// The step that asks.
    pub step: String,
    /// The branch of it: the place in each `parallel` on the way to it.
    pub branch: Vec<u32>,
}

/// The methods of an object that are calls.
pub(crate) fn methods(kind: ObjectKind) -> Vec<&'static Signature> {
    let tables: &[&'static [Signature]] = match kind {
        ObjectKind::Lab => &[lab::METHODS],
        ObjectKind::Machine => &[guest::METHODS, machine::METHODS],
        ObjectKind::Job => &[job::METHODS],
        ObjectKind::Segment => &[segment::METHODS],
        ObjectKind::Kernel | ObjectKind::Returned => &[],
    };
    tables.iter().flat_map(|table| table.iter()).collect()
}

/// The call of a method.
///
/// # Errors
///
/// When the fields are not those of the method: a defect of kiln's tables.
pub(crate) fn make(
    kind: ObjectKind,
    id: u32,
    method: &str,
    fields: Map<String, Value>,
) -> serde_json::Result<Call> {
    let call = Value::Object([(method.to_owned(), Value::Object(fields))].into_iter().collect());
    let is_guest = guest::METHODS.iter().any(|signature| signature.name == method);
    Ok(match kind {
        ObjectKind::Machine if is_guest => Call::Guest { machine: id, call: serde_json::from_value(call)? },
        ObjectKind::Machine => Call::Machine { machine: id, call: serde_json::from_value(call)? },
        ObjectKind::Job => Call::Job { job: id, call: serde_json::from_value(call)? },
        ObjectKind::Segment => Call::Segment { segment: id, call: serde_json::from_value(call)? },
        ObjectKind::Lab | ObjectKind::Kernel | ObjectKind::Returned => {
            Call::Lab(serde_json::from_value(call)?)
        }
    })
}
