//! What a machine records, and where its trace goes.

use std::path::Path;

use machine::{Measuring, RecordingMemory};
use protocol::trace::TraceRequest;
use transcode::{Follower, Ring, Summary};

use crate::Failure;

/// What is wanted, and where the trace goes.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// The events.
    pub request: &'a TraceRequest,
    /// The folder of the trace, which must not be there.
    pub folder: &'a Path,
}

impl Recording<'_> {
    /// Makes a trace of what a machine recorded that does nothing any more.
    pub(crate) fn of(&self, machine: &Measuring) -> Result<Summary, Failure> {
        let RecordingMemory { file, place, size } = machine.recorded()?;
        // A boot that stopped in another way has left one.
        let _ = std::fs::remove_dir_all(self.folder);
        let ring = Ring::new(file, place, size).map_err(transcode::Failure::from)?;
        Ok(Follower::start(ring, self.folder, None)?.finish()?)
    }
}
