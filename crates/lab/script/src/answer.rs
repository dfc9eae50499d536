//! What comes back from a machine. It is a stranger's: bounded before a script sees it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{JobId, MachineId, SegmentId};

/// What a call gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was done.
    Done,
    /// A machine is there.
    Machine(MachineId),
    /// A segment is there.
    Segment(SegmentId),
    /// A command was started.
    Job(JobId),
    /// A command has ended.
    Command(CommandResult),
    /// Text, of a file or of a command; or the name of something that was kept with the Run.
    Text(Vec<u8>),
    /// Lines of a log.
    Lines(Vec<Vec<u8>>),
    /// Registers, statistics, bytes of memory, what QEMU says.
    Plain(Value),
}

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandResult {
    /// What it wrote to its standard output and error.
    pub output: Vec<u8>,
    /// Its status, if it exited.
    pub status: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// How long it ran.
    #[serde(with = "judge::json::seconds")]
    pub duration: Duration,
}

/// Bytes as text of at most `limit` bytes.
pub(crate) fn bounded(bytes: &[u8], limit: usize) -> String {
    match bytes.get(..limit) {
        Some(start) if bytes.len() > limit => {
            format!("{}\n[kiln cut this off]", String::from_utf8_lossy(start))
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_stranger_are_bounded_text() {
        assert_eq!(bounded(b"a\xff", 10), "a\u{fffd}");
        assert_eq!(bounded(b"abcdef", 3), "abc\n[kiln cut this off]");
        assert_eq!(bounded(b"abc", 3), "abc");
    }
}
