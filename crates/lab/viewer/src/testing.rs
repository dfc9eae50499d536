//! Traces for tests.

use std::collections::BTreeMap;

use ctf::class::{Class, Field, Number, Stream};
use ctf::{Metadata, Shape, Trace, Writer};

use crate::look::{View, look};

/// A field of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum It {
    Number(i64),
    Text(&'static str),
}

/// An event.
#[derive(Debug, Clone)]
pub(crate) struct Happened {
    pub(crate) cpu: u32,
    pub(crate) time: u64,
    pub(crate) thread: i32,
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<(&'static str, It)>,
}

/// A place and a time where events can be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct On {
    pub(crate) cpu: u32,
    pub(crate) time: u64,
    pub(crate) thread: i32,
}

/// At a time on a CPU, in a thread.
pub(crate) fn on(cpu: u32, time: u64, thread: i32) -> On {
    On { cpu, time, thread }
}

impl On {
    pub(crate) fn event(self, name: &'static str, fields: &[(&'static str, It)]) -> Happened {
        let Self { cpu, time, thread } = self;
        Happened { cpu, time, thread, name, fields: fields.to_vec() }
    }

    /// The thread leaves the CPU in a state of the kernel.
    pub(crate) fn switch(self, state: i64, next: i32) -> Happened {
        let fields = [
            ("prev_comm", It::Text(comm(self.thread))),
            ("prev_pid", It::Number(self.thread.into())),
            ("prev_state", It::Number(state)),
            ("next_comm", It::Text(comm(next))),
            ("next_pid", It::Number(next.into())),
        ];
        self.event("sched:sched_switch", &fields)
    }

    pub(crate) fn wake(self, thread: i32) -> Happened {
        let fields = [("comm", It::Text(comm(thread))), ("pid", It::Number(thread.into()))];
        self.event("sched:sched_waking", &fields)
    }

    pub(crate) fn enter_read(self) -> Happened {
        self.event("syscalls:sys_enter_read", &[("fd", It::Number(0))])
    }

    pub(crate) fn exit_read(self, result: i64) -> Happened {
        self.event("syscalls:sys_exit_read", &[("ret", It::Number(result))])
    }
}

/// What threads are called in tests.
pub(crate) fn comm(thread: i32) -> &'static str {
    match thread {
        0 => "swapper/0",
        7 => "seven",
        8 => "eight",
        _ => "other",
    }
}

/// A trace of events, which are in the order of their times on each CPU.
pub(crate) fn trace(events: &[Happened]) -> (tempfile::TempDir, Trace) {
    let place = tempfile::tempdir().expect("a directory");
    let folder = place.path().join("trace");
    let mut classes: Vec<Class> = Vec::new();
    for event in events {
        if classes.iter().all(|class| class.name != event.name) {
            let id = u16::try_from(classes.len()).expect("few classes");
            let fields =
                event.fields.iter().map(|(name, it)| Field { name: (*name).to_owned(), shape: shape(*it) });
            classes.push(Class {
                id,
                stream: Stream::Kernel,
                name: event.name.to_owned(),
                fields: fields.collect(),
            });
        }
    }
    let writer = Writer::create(&folder, &Metadata { classes: classes.clone(), ..Metadata::default() })
        .expect("writable");
    let mut streams = BTreeMap::new();
    for event in events {
        let new = || {
            writer.stream(&Stream::Kernel.file_name(event.cpu), Stream::Kernel, event.cpu).expect("writable")
        };
        let class = classes.iter().find(|class| class.name == event.name).expect("it was added");
        let mut context = [0; 6];
        context[..4].copy_from_slice(&event.thread.to_le_bytes());
        let fields: Vec<u8> = event.fields.iter().flat_map(|(_, it)| bytes(*it)).collect();
        streams
            .entry(event.cpu)
            .or_insert_with(new)
            .event(class.id, event.time, &context, &fields)
            .expect("writable");
    }
    streams.into_values().for_each(|stream| stream.finish().expect("writable"));
    let trace = Trace::open(&folder).expect("a trace");
    (place, trace)
}

/// What a view makes of events, of which those are shown for which the filter holds.
pub(crate) fn viewed<V: View + Default>(events: &[Happened], filter: Option<&str>) -> V {
    let (_place, trace) = trace(events);
    let filter = filter.map(|filter| filter.parse().expect("a filter"));
    let mut view = V::default();
    assert_eq!(look(&trace, filter.as_ref(), &mut view).expect("readable"), 0);
    view
}

fn shape(it: It) -> Shape {
    match it {
        It::Number(_) => Shape::Number(Number { is_signed: true, ..Number::unsigned(8) }),
        It::Text(_) => Shape::String,
    }
}

fn bytes(it: It) -> Vec<u8> {
    match it {
        It::Number(number) => number.to_le_bytes().to_vec(),
        It::Text(text) => [text.as_bytes(), b"\0"].concat(),
    }
}
