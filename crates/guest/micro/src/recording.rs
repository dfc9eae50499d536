//! Records what the kernel does while jobs are done, each once.
//!
//! All of it stays in the kernel's buffers until they are done, so that nothing of the recording runs beside them.

use harness::check::{Stop, describe};
use harness::instrument::broken;
use protocol::Report;
use protocol::trace::TraceRequest;
use trace::{Recorder, Ring};

use super::exchange::Exchange;

/// A recording.
#[derive(Debug)]
pub(super) struct Recording {
    recorder: Recorder,
    ring: Ring,
    is_of_process: bool,
}

impl Recording {
    /// Begins it. Programs that are started from here on know where marks go.
    ///
    /// # Errors
    ///
    /// When the kernel records nothing of what is asked for.
    pub(super) fn start(request: &TraceRequest, exchange: &Exchange) -> Result<Self, Report> {
        let mut ring = exchange.recording().map_err(|error| broken(describe(error)))?;
        let recorder = Recorder::start(request, &mut ring)?;
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(mark::VARIABLE, recorder.marker()) };
        Ok(Self { recorder, ring, is_of_process: request.process.is_some() })
    }

    /// What is recorded of a process comes from this one, and those that it starts: the process of the request has nothing to do.
    ///
    /// # Errors
    ///
    /// As the kernel says.
    pub(super) fn begin_here(&self) -> Result<(), Stop> {
        let begun = if self.is_of_process { self.recorder.move_to(std::process::id()) } else { Ok(()) };
        begun.map_err(Stop)
    }

    /// Ends it and passes it on.
    ///
    /// # Errors
    ///
    /// When there is more of it than room.
    pub(super) fn finish(mut self) -> Result<(), Report> {
        self.recorder.finish(&mut self.ring).map(drop)
    }
}
