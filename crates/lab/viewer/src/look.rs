//! One way through a trace for all that can be said of it.

use std::collections::HashSet;

use ctf::{Error, Trace};

use crate::filter::Filter;
use crate::interval::Interval;
use crate::seen::Seen;
use crate::states::States;
use crate::threads::Threads;

/// What makes something of the events of a trace.
pub trait View {
    /// There was an event that is of interest.
    fn event(&mut self, _seen: &Seen<'_>) {}

    /// Something has ended. Intervals come in the order of their ends, and what lasts until the end of the trace last.
    fn interval(&mut self, _interval: &Interval, _threads: &Threads) {}
}

/// Two views of the same.
impl<A: View, B: View> View for (A, B) {
    fn event(&mut self, seen: &Seen<'_>) {
        self.0.event(seen);
        self.1.event(seen);
    }

    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        self.0.interval(interval, threads);
        self.1.interval(interval, threads);
    }
}

/// Shows a trace to a view: all of it, or the events for which a filter holds, and what ended with one of them. In an interval, `comm` and
/// `tid` are those of its own thread. Gives how many packets could not be read as a whole.
///
/// # Errors
///
/// When a file cannot be read.
pub fn look(trace: &Trace, filter: Option<&Filter>, view: &mut dyn View) -> Result<u64, Error> {
    let (begin, end) = trace.span().unwrap_or_default();
    let (mut states, mut threads) = (States::default(), Threads::default());
    let (mut ended, mut shown) = (Vec::new(), HashSet::new());
    let mut events = trace.events(0);
    while let Some(event) = events.next_event()? {
        threads.see(&event);
        states.see(&event, &mut ended);
        let of = |number: Option<i32>| {
            let mut event = event;
            event.thread = number;
            Seen { event, comm: number.and_then(|number| threads.name(number)), begin }
        };
        let is_shown = |seen: &Seen<'_>| filter.is_none_or(|filter| filter.holds(seen));
        let seen = of(event.thread);
        if is_shown(&seen) {
            view.event(&seen);
        }
        for interval in ended.drain(..) {
            if is_shown(&of(Some(interval.thread))) {
                shown.insert(interval.thread);
                view.interval(&interval, &threads);
            }
        }
    }
    let damage = events.damage();
    // No event ends the others: they belong to the threads that were shown.
    let others = states.finish(end).into_iter();
    let others = others.filter(|interval| filter.is_none() || shown.contains(&interval.thread));
    others.for_each(|interval| view.interval(&interval, &threads));
    Ok(damage)
}
