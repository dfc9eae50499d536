//! What threads and CPUs did at a moment.

use ctf::{Error, Trace};

use crate::states::States;
use crate::threads::Threads;

/// A moment of a trace.
#[derive(Debug, Clone)]
pub struct Moment {
    /// When it is, in nanoseconds on the clock of the trace.
    pub time: u64,
    /// What was done.
    pub states: States,
    /// What threads were called.
    pub names: Threads,
    /// Packets that could not be read as a whole.
    pub damage: u64,
}

impl Moment {
    /// The moment so many nanoseconds after the begin of a trace.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn new(trace: &Trace, since_begin: u64) -> Result<Self, Error> {
        let begin = trace.span().map(|(begin, _)| begin).unwrap_or_default();
        let time = begin.saturating_add(since_begin);
        let (mut states, mut names) = (States::default(), Threads::default());
        let mut ended = Vec::new();
        let mut events = trace.events(0);
        while let Some(event) = events.next_event()?.filter(|event| event.time <= time) {
            names.see(&event);
            states.see(&event, &mut ended);
            ended.clear();
        }
        let damage = events.damage();
        Ok(Self { time, states, names, damage })
    }
}
