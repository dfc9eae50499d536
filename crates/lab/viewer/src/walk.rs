//! The events of a trace in their order.

use ctf::{Error, Trace};

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
    let begin = trace.span().map(|(begin, _)| begin).unwrap_or_default();
    let mut threads = Threads::default();
    let mut events = trace.events(0);
    while let Some(event) = events.next_event()? {
        threads.see(&event);
        let comm = event.thread.and_then(|thread| threads.name(thread));
        let seen = Seen { event, comm, begin };
        if filter.is_none_or(|filter| filter.holds(&seen)) && !show(&seen) {
            break;
        }
    }
    Ok(events.damage())
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
