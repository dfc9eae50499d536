//! What a lab script has the agent do: several things at a time, for as long as the script wants.

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::trace::TraceRequest;

/// Longest content in one message, in bytes; more comes in pieces.
pub const PIECE_MAX: usize = 32 * 1024;

/// Where the agent finds the kernel that [`Order::LoadKernel`] loads.
pub const KEXEC_IMAGE: &str = "/kexec-image";

/// Where it finds the initramfs of that.
pub const KEXEC_INITRAMFS: &str = "/kexec-initramfs";

/// A request, whose answer is [`crate::FromAgent::Answer`] with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Start something as a job of this number; it is answered when it runs, and its end is
    /// [`crate::FromAgent::JobEnded`].
    Start {
        /// What.
        task: Task,
        /// Its standard input.
        input: Vec<u8>,
        /// Output beyond this many bytes is dropped.
        output_max: u64,
    },
    /// Send a signal to the processes of a job: kill(2).
    Signal {
        /// The number of the order that started it.
        job: u32,
        /// Which.
        signal: i32,
    },
    /// Load a module.
    Load {
        /// Where its file is in the agent's file system.
        path: String,
        /// Its parameters, as finit_module(2) reads them.
        parameters: String,
    },
    /// Unload a module.
    Unload {
        /// Its name.
        name: String,
    },
    /// Give an interface its addresses, and switch it on.
    Interface(Interface),
    /// Set the real-time clock: clock_settime(2).
    Clock {
        /// Microseconds since the epoch.
        now_us: u64,
    },
    /// Restart: reboot(2).
    Restart,
    /// Load the kernel of [`KEXEC_IMAGE`] with [`KEXEC_INITRAMFS`], and remove both files: kexec_file_load(2).
    LoadKernel {
        /// Its command line, which ends with a zero byte.
        parameters: String,
    },
    /// Record what the kernel does; it is answered when events are recorded, or it is clear that none are.
    Record(Box<TraceRequest>),
    /// End the recording, if there is one.
    EndRecording,
    /// Say something in the recording, if there is one.
    Mark {
        /// What, in a line.
        text: String,
    },
    /// Go over to the kernel that is loaded; it is answered only if that fails.
    Kexec,
}

/// What a job does. All but a module is for programs, so paths are those of the root, if the machine has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Run a program.
    Program(Command),
    /// Write a file out; the job ends with the number of an error: errno(3).
    Read {
        /// Where it is.
        path: String,
    },
    /// Write the standard input into a file; the job ends with the number of an error.
    Write {
        /// Where it goes.
        path: String,
        /// At its end, instead of in its place.
        append: bool,
        /// Its permissions, if it is new.
        permissions: u32,
        /// It is for the agent: a module, which is loaded outside of the root.
        for_agent: bool,
    },
}

/// An interface, and what it shall be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// The Ethernet address by which it is found.
    pub found_by: [u8; 6],
    /// The one that it has from now on: clones of a template begin with the same.
    pub mac: [u8; 6],
    /// Its IPv4 address, and the length of its network's prefix; none leaves it to a program of the root.
    pub address: Option<([u8; 4], u8)>,
    /// Where all that is not on this network goes.
    pub gateway: Option<[u8; 4]>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::FRAME_MAX;
    use crate::{Encoder, FromAgent, ToAgent};

    #[test]
    fn a_piece_fits_into_a_frame() {
        let mut encoder = Encoder::default();
        let path = "x".repeat(4096);
        let task = Task::Write { path, append: true, permissions: 0o644, for_agent: false };
        let order = Order::Start { task, input: vec![0xff; PIECE_MAX], output_max: u64::MAX };
        let sent = encoder.encode(&ToAgent::Do { number: u32::MAX, order }).expect("plain data");
        assert!(sent.len() < FRAME_MAX);
        let output = FromAgent::JobOutput { job: u32::MAX, bytes: vec![0; PIECE_MAX] };
        assert!(encoder.encode(&output).expect("plain data").len() < FRAME_MAX);
    }
}
