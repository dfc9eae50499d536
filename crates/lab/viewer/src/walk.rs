//! The events of traces in their order.

use ctf::{Error, Events, Trace};

use crate::axis::Axis;
use crate::filter::Filter;
use crate::seen::Seen;
use crate::threads::Threads;

/// Shows all events, or those for which a filter holds, until `show` says that it has seen enough; gives how many packets could not be read as a whole.
///
/// # Errors
///
/// When a file cannot be read.
pub fn walk(
    trace: &Trace,
    filter: Option<&Filter>,
    mut show: impl FnMut(&Seen<'_>) -> bool,
) -> Result<u64, Error> {
    walk_together(&[trace], filter, |_, seen| show(seen))
}

/// The same of several traces on the axis of the first; `show` gets the place of the trace of an event, too.
///
/// # Errors
///
/// When a file cannot be read.
pub fn walk_together(
    traces: &[&Trace],
    filter: Option<&Filter>,
    mut show: impl FnMut(usize, &Seen<'_>) -> bool,
) -> Result<u64, Error> {
    let axis = Axis::new(traces);
    let mut walks: Vec<Walk<'_>> = traces.iter().map(|trace| Walk::new(trace)).collect();
    while let Some(at) = earliest(&mut walks, &axis)? {
        let Walk { events, threads } = &mut walks[at];
        let Some(mut event) = events.next_event()? else { break };
        threads.see(&event);
        event.time = axis.time(at, event.time);
        let comm = event.thread.and_then(|thread| threads.name(thread));
        let seen = Seen { event, comm, begin: axis.begin };
        if filter.is_none_or(|filter| filter.holds(&seen)) && !show(at, &seen) {
            break;
        }
    }
    Ok(walks.iter().map(|walk| walk.events.damage()).sum())
}

/// A way through a trace.
struct Walk<'a> {
    events: Events<'a>,
    threads: Threads,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace) -> Self {
        Self { events: trace.events(0), threads: Threads::default() }
    }
}

/// Which trace has the next event.
fn earliest(walks: &mut [Walk<'_>], axis: &Axis) -> Result<Option<usize>, Error> {
    if let [_] = walks {
        return Ok(Some(0));
    }
    let mut first = None;
    for (at, walk) in walks.iter_mut().enumerate() {
        let time = walk.events.next_time()?.map(|time| (axis.time(at, time), at));
        first = first.into_iter().chain(time).min();
    }
    Ok(first.map(|(_, at)| at))
}

#[cfg(test)]
pub(crate) mod tests {
    use ctf::class::{Class, Field, Number, Stream};
    use ctf::{Metadata, Shape, Writer};

    use super::*;

    /// An event `test:number` of thread 7 on CPU 2.
    pub(crate) struct Sample {
        pub(crate) value: i32,
        pub(crate) comm: &'static str,
        /// Since the begin of the trace.
        pub(crate) time: u64,
    }

    fn field(name: &str, shape: Shape) -> Field {
        Field { name: name.to_owned(), shape }
    }

    /// A trace of threads and of events of them.
    pub(crate) fn trace(samples: &[Sample]) -> (tempfile::TempDir, Trace) {
        let signed = Shape::Number(Number { is_signed: true, ..Number::unsigned(4) });
        let place = tempfile::tempdir().expect("a directory");
        let folder = place.path().join("trace");
        let number = Class {
            id: 1,
            stream: Stream::Kernel,
            name: "test:number".to_owned(),
            fields: vec![field("value", signed)],
        };
        let wakeup = Class {
            id: 2,
            stream: Stream::Kernel,
            name: "sched:sched_wakeup".to_owned(),
            fields: vec![field("comm", Shape::Text(16)), field("pid", signed)],
        };
        let metadata = Metadata { classes: vec![number, wakeup], ..Metadata::default() };
        let writer = Writer::create(&folder, &metadata).expect("writable");
        let mut stream = writer.stream("cpu2", Stream::Kernel, 2).expect("writable");
        let context = [7, 0, 0, 0, 0, 0];
        // The begin of the trace.
        stream.event(1, 1000, &[0; 6], &0_i32.to_le_bytes()).expect("writable");
        for Sample { value, comm, time } in samples {
            let mut fields = [0; 20];
            fields[..comm.len()].copy_from_slice(comm.as_bytes());
            fields[16..].copy_from_slice(&7_i32.to_le_bytes());
            stream.event(2, 1000 + time, &context, &fields).expect("writable");
            stream.event(1, 1000 + time, &context, &value.to_le_bytes()).expect("writable");
        }
        stream.finish().expect("writable");
        let trace = Trace::open(&folder).expect("a trace");
        (place, trace)
    }

    /// Shows the event of a sample.
    pub(crate) fn with<T>(sample: &Sample, show: impl Fn(&Seen<'_>) -> T) -> T {
        let (_place, trace) = trace(std::slice::from_ref(sample));
        let mut shown = None;
        walk(&trace, None, |seen| {
            if seen.event.class.name == "test:number" {
                shown = Some(show(seen));
            }
            true
        })
        .expect("readable");
        shown.expect("the event is there")
    }

    #[test]
    fn traces_are_shown_on_one_axis() {
        let sample = |value, time| Sample { value, comm: "x", time };
        let (_place, mut host) = trace(&[sample(1, 10), sample(3, 30)]);
        let (_other, mut guest) = trace(&[sample(2, 5), sample(4, 25)]);
        // Of two clocks that began apart, times are those of the earlier one.
        (host.metadata.offset, guest.metadata.offset) = (5_000, 5_015);
        let mut shown = Vec::new();
        let filter = "value > 0".parse().expect("a filter");
        walk_together(&[&host, &guest], Some(&filter), |at, seen| {
            shown.push((at, seen.since_begin(), seen.event.time));
            true
        })
        .expect("readable");
        assert_eq!(shown, [(0, 10, 1010), (1, 20, 1020), (0, 30, 1030), (1, 40, 1040)]);
        let axis = Axis::new(&[&host, &guest]);
        assert_eq!((axis.begin, axis.end, axis.time(1, 1005)), (1000, 1040, 1020));
        (host.metadata.offset, guest.metadata.offset) = (i64::MIN, i64::MAX);
        assert_eq!(Axis::new(&[&host, &guest]).time(1, u64::MAX), u64::MAX, "a lie");
    }

    #[test]
    fn threads_are_called_as_the_last_event_says() {
        let sample = |comm, time| Sample { value: 0, comm, time };
        let (_place, trace) = trace(&[sample("old", 1), sample("new", 2)]);
        let mut names = Vec::new();
        walk(&trace, None, |seen| {
            names.push((seen.since_begin(), seen.comm.map(str::to_owned)));
            names.len() < 4
        })
        .expect("readable");
        let named = |time, name: &str| (time, Some(name.to_owned()));
        assert_eq!(names, [named(0, "swapper"), named(1, "old"), named(1, "old"), named(2, "new")]);
    }
}
