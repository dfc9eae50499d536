//! The times of several traces on one axis.

use ctf::Trace;

/// The clock that began first, to which the others are shifted by what is known of their time of day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Axis {
    /// The time of the first event of all.
    pub begin: u64,
    /// The time of the last one.
    pub end: u64,
    /// What is added to the times of each trace, in nanoseconds.
    pub shifts: Vec<u64>,
}

impl Axis {
    /// That of these traces.
    #[must_use]
    pub fn new(traces: &[&Trace]) -> Self {
        let offsets = traces.iter().map(|trace| trace.metadata.offset);
        let first = offsets.clone().min().unwrap_or_default();
        let shifts = offsets.map(|offset| offset.abs_diff(first)).collect();
        let axis = Self { shifts, ..Self::default() };
        let spans = traces.iter().enumerate().filter_map(|(at, trace)| {
            let (begin, end) = trace.span()?;
            Some((axis.time(at, begin), axis.time(at, end)))
        });
        let span = spans.reduce(|(begin, end), (other, last)| (begin.min(other), end.max(last)));
        let (begin, end) = span.unwrap_or_default();
        Self { begin, end, ..axis }
    }

    /// A time of a trace on the axis.
    #[must_use]
    pub fn time(&self, trace: usize, time: u64) -> u64 {
        time.saturating_add(self.shifts.get(trace).copied().unwrap_or_default())
    }
}
