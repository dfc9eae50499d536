//! Events in any order with anything in their fields, as all views show them, and a filter for them.

#![no_main]

use ctf::class::{Class, Field, Number, Stream};
use ctf::{Metadata, Shape, Trace, Writer};
use libfuzzer_sys::fuzz_target;
use viewer::critical_path::History;
use viewer::{
    Activity, Differences, Filter, Interval, Latencies, Moment, Seen, Statistics, Threads, Timeline, Tree,
    View, Work, look,
};

/// The events that views follow, and their fields: a name with a dot is a text.
const EVENTS: &[(&str, &[&str])] = &[
    ("sched:sched_switch", &["prev_comm.", "prev_pid", "prev_state", "next_comm.", "next_pid"]),
    ("sched:sched_waking", &["comm.", "pid"]),
    ("sched:sched_process_fork", &["parent_comm.", "parent_pid", "child_comm.", "child_pid"]),
    ("sched:sched_process_exec", &["filename.", "pid"]),
    ("sched:sched_process_exit", &["comm.", "pid"]),
    ("syscalls:sys_enter_read", &["fd"]),
    ("syscalls:sys_exit_read", &["ret"]),
    ("raw_syscalls:sys_enter", &["id"]),
    ("irq:irq_handler_entry", &["irq", "name."]),
    ("irq:irq_handler_exit", &["irq"]),
    ("irq:softirq_entry", &["vec"]),
    ("irq:softirq_exit", &["vec"]),
    ("block:block_rq_issue", &["dev", "sector", "rwbs."]),
    ("block:block_rq_complete", &["dev", "sector", "rwbs."]),
    ("kiln:task", &["tid", "pid", "ppid", "comm."]),
];

/// Bytes of an event in the input, without its fields.
const HEAD: usize = 6;

fuzz_target!(|input: &[u8]| {
    if let Err(why) = show(input) {
        panic!("{why}");
    }
});

fn classes() -> Vec<Class> {
    let field = |name: &&str| {
        let shape = if name.ends_with('.') { Shape::Text(4) } else { Shape::Number(Number::unsigned(1)) };
        Field { name: name.trim_end_matches('.').to_owned(), shape }
    };
    let class = |(id, (name, fields)): (u16, &(&str, &[&str]))| {
        let fields = fields.iter().map(field).collect();
        Class { id, stream: Stream::Kernel, name: (*name).to_owned(), fields }
    };
    (0..).zip(EVENTS).map(class).collect()
}

/// A filter, a byte that is no text, and events.
fn show(input: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let end = input.iter().position(|&byte| byte == u8::MAX).unwrap_or(input.len());
    let filter: Option<Filter> = String::from_utf8_lossy(&input[..end]).parse().ok();
    let place = tempfile::tempdir()?;
    let folder = place.path().join("trace");
    write(&folder, input.get(end + 1..).unwrap_or_default())?;
    let trace = Trace::open(&folder)?;
    let mut all = All::default();
    look(&trace, filter.as_ref(), &mut all)?;
    if filter.is_none() {
        let (begin, end) = trace.span().unwrap_or_default();
        let parts: u64 =
            (0..=255).flat_map(|thread| all.history.path(thread)).map(|part| part.end - part.begin).sum();
        assert!(parts <= 256 * (end - begin), "no path is longer than the trace");
        Moment::new(&trace, (end - begin) / 2)?;
    }
    let same = Differences::new(&all.work, &all.work);
    assert!(same.counts.is_empty() && same.orders.is_empty() && same.latencies.is_empty());
    assert!(all.tree.children().values().map(Vec::len).sum::<usize>() == all.tree.tasks.len());
    Ok(())
}

fn write(folder: &std::path::Path, mut input: &[u8]) -> Result<(), ctf::Error> {
    let classes = classes();
    let writer = Writer::create(folder, &Metadata { classes: classes.clone(), ..Metadata::default() })?;
    let mut streams = [writer.stream("cpu0", Stream::Kernel, 0)?, writer.stream("cpu1", Stream::Kernel, 1)?];
    let mut time = 0;
    while let Some((head, rest)) = input.split_at_checked(HEAD) {
        let class = &classes[usize::from(head[0]) % classes.len()];
        time += u64::from(head[1]);
        let size =
            class.fields.iter().map(|field| if matches!(field.shape, Shape::Text(_)) { 4 } else { 1 }).sum();
        let Some((fields, rest)) = rest.split_at_checked(size) else { break };
        let context = [head[2], 0, 0, 0, head[3], head[4]];
        streams[usize::from(head[5] % 2)].event(class.id, time, &context, fields)?;
        input = rest;
    }
    streams.into_iter().try_for_each(ctf::StreamWriter::finish)
}

#[derive(Default)]
struct All {
    statistics: Statistics,
    activity: Activity,
    latencies: Latencies,
    tree: Tree,
    timeline: Timeline,
    work: Work,
    history: History,
}

impl All {
    fn views(&mut self) -> [&mut dyn View; 7] {
        [
            &mut self.statistics,
            &mut self.activity,
            &mut self.latencies,
            &mut self.tree,
            &mut self.timeline,
            &mut self.work,
            &mut self.history,
        ]
    }
}

impl View for All {
    fn event(&mut self, seen: &Seen<'_>) {
        self.views().into_iter().for_each(|view| view.event(seen));
    }

    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        assert!(interval.begin <= interval.end, "{interval:?}");
        self.views().into_iter().for_each(|view| view.interval(interval, threads));
    }
}
