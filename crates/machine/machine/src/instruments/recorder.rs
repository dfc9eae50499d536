//! The instrument that records, beside what kiln runs on this host.

use std::fs::File;
use std::io::Read;
use std::process::Child;

use protocol::trace::{RING_VARIABLE, TraceRequest};
use rustix::process::{Pid, Signal, kill_process};

use super::TRACE;
use crate::error::Error;

/// Size of the memory through which its recording comes, in bytes.
const SIZE: u64 = 64 << 20;

/// Memory through which a recording comes.
///
/// # Errors
///
/// When the host has none.
pub fn memory() -> Result<File, Error> {
    let failed = |source| Error::host(TRACE.name, source);
    let memory = ::host::nameless().map_err(failed)?;
    memory.set_len(SIZE).map_err(failed)?;
    Ok(memory)
}

/// It records until it is stopped. It ends with kiln, and leaves nothing behind.
#[derive(Debug)]
pub struct Recorder {
    child: Child,
}

impl Recorder {
    /// Starts it; its recording comes through this [`memory`].
    ///
    /// # Errors
    ///
    /// When the host does not start it.
    pub fn start(request: &TraceRequest, memory: &File) -> Result<Self, Error> {
        let failed = |source| Error::host(TRACE.name, source);
        let request = serde_json::to_string(request).map_err(|error| failed(error.into()))?;
        let its = memory.try_clone().map_err(failed)?;
        let child = TRACE.start(&request, &[(RING_VARIABLE.to_owned(), its)])?;
        Ok(Self { child })
    }

    /// Has it write what is left, and waits for its end. Who takes the recording must do so meanwhile.
    ///
    /// # Errors
    ///
    /// When the host cannot wait for it.
    pub fn stop(mut self) -> Result<(), Error> {
        let failed = |source| Error::host(TRACE.name, source);
        // One that has ended by itself needs no signal.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        // What it says is in its recording as well.
        let mut said = Vec::new();
        if let Some(output) = &mut self.child.stdout {
            output.read_to_end(&mut said).map_err(failed)?;
        }
        self.child.wait().map(drop).map_err(failed)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // It undoes what it did.
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            let _ = self.child.wait();
        }
    }
}
