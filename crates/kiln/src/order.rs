//! What an instrument is asked to do, wherever it runs.

use std::time::Duration;

use lab::request::ProgramRequest;
use machine::instruments::Instrument;
use protocol::Need;

/// Added to the time that an instrument measures, for what it does before and after.
const GRACE: Duration = Duration::from_secs(30);

/// An instrument with its request.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) instrument: &'static Instrument,
    /// In JSON.
    pub(crate) request: String,
    /// How long it measures.
    pub(crate) duration: Duration,
    /// Instruments that it starts itself.
    pub(crate) others: Vec<&'static Instrument>,
    /// What its machine must have.
    pub(crate) needs: Vec<Need<String>>,
}

impl Order {
    /// The same as a program.
    pub(crate) fn program(&self) -> ProgramRequest {
        let others = self.others.iter().map(|other| Need::Tool(other.path().display().to_string()));
        ProgramRequest {
            path: self.instrument.path(),
            arguments: vec![self.request.clone()],
            needs: self.needs.iter().cloned().chain(others).collect(),
        }
    }

    /// After this it hangs.
    pub(crate) fn limit(&self) -> Duration {
        self.duration + GRACE
    }
}
