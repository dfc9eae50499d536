//! A page that draws what CPUs and threads did over time.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use serde_json::json;
use viewer::timeline::{Item, Kind, Lane, Place};
use viewer::{Axis, State, Statistics, Timeline};

use super::statistics::tables;
use crate::figures::count;
use crate::html::{Extra, command, page_with, section, short, text};
use crate::safe::safe_line;
use crate::times::nanoseconds;

/// What is on a page.
#[derive(Debug)]
pub struct Page<'a> {
    /// What the user typed.
    pub typed: &'a str,
    /// Where the traces are in time.
    pub axis: Axis,
    /// The traces; of several, each lane has the name of its own.
    pub traces: Vec<Drawn>,
}

/// A trace that is drawn.
#[derive(Debug)]
pub struct Drawn {
    /// The kernel, perhaps with more.
    pub name: String,
    /// Events that the kernel could not record.
    pub lost: u64,
    /// What is drawn.
    pub timeline: Timeline,
    /// What is in tables, which need no script.
    pub statistics: Statistics,
}

/// What is drawn in one way, in the order of the numbers in the data.
const KINDS: [&str; 7] = ["running", "runnable", "sleeping", "blocked", "system call", "interrupt", "idle"];

/// Behind the bits of the label.
const KIND_SHIFT: u32 = 24;

/// Writes the page: timeline.js says what it reads.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(page: &Page<'_>, mut out: impl Write) -> io::Result<()> {
    let names: Vec<String> = page.traces.iter().map(|drawn| short(&drawn.name)).collect();
    let title = format!("Trace of {}", names.join(" and "));
    let data = Data::new(page);
    let sum = |of: fn(&Drawn) -> u64| page.traces.iter().map(of).fold(0, u64::saturating_add);
    let (lost, left_out) = (sum(|drawn| drawn.lost), sum(|drawn| drawn.timeline.left_out));
    let events = count(sum(|drawn| drawn.statistics.events));
    let span = nanoseconds(page.axis.end.saturating_sub(page.axis.begin));
    let body = html! {
        header {
            h1 { (text(&title)) }
            (command(page.typed))
            p.totals { (events) " events in " (span) }
            @if lost > 0 { p.honesty { (count(lost)) " events were lost: what is drawn around them may be wrong." } }
            @if left_out > 0 {
                p.honesty { (count(left_out)) " events and intervals are not drawn: there are too many for a browser." }
            }
        }
        main {
            div id="timeline" hidden {}
            noscript { p.note { "The timeline needs a script; the tables do not." } }
            (data.markup())
            @for (at, drawn) in page.traces.iter().enumerate() {
                (section(&heading(page, at), &tables(&drawn.statistics)))
            }
        }
    };
    let extra = Extra { style: include_str!("timeline.css"), script: include_str!("timeline.js") };
    out.write_all(page_with(&title, &body, extra).as_bytes())?;
    out.flush()
}

/// What the statistics of a trace are called.
fn heading(page: &Page<'_>, at: usize) -> String {
    match &page.traces[..] {
        [_] => "Statistics".to_owned(),
        traces => format!("Statistics of {}", short(&traces[at].name)),
    }
}

/// A trace among others.
struct Track<'a> {
    page: &'a Page<'a>,
    at: usize,
    /// What the names of its lanes end with.
    of: String,
    /// The number of its first label among those of all.
    first_label: u32,
}

impl Track<'_> {
    /// A time of the trace on the axis of all.
    fn time(&self, time: u64) -> u64 {
        self.page.axis.time(self.at, time)
    }

    fn label(&self, label: u32) -> u32 {
        self.first_label.saturating_add(label)
    }
}

/// What the script reads.
#[derive(Debug, Default)]
struct Data {
    /// Nanoseconds of a tick: times have 32 bits.
    unit: u64,
    begin: u64,
    lanes: Vec<serde_json::Value>,
    head: serde_json::Value,
    begins: Vec<u32>,
    ends: Vec<u32>,
    kinds: Vec<u32>,
    times: Vec<u32>,
    labels: Vec<u32>,
}

impl Data {
    fn new(page: &Page<'_>) -> Self {
        let Axis { begin, end, .. } = page.axis;
        let unit = (end.saturating_sub(begin) / u64::from(u32::MAX)) + 1;
        let mut data = Self { unit, begin, ..Self::default() };
        let mut labels: Vec<String> = Vec::new();
        for (at, drawn) in page.traces.iter().enumerate() {
            let of = if page.traces.len() > 1 { format!(" ({})", short(&drawn.name)) } else { String::new() };
            let first_label = u32::try_from(labels.len()).unwrap_or(u32::MAX);
            let track = Track { page, at, of, first_label };
            let mut lanes: Vec<_> = drawn.timeline.lanes.iter().collect();
            // CPUs first, then the threads that did most.
            lanes.sort_by_key(|(place, lane)| match place {
                Place::Cpu(cpu) => (0, u64::from(*cpu)),
                Place::Thread(_) => {
                    (1, u64::MAX - (lane.states.len() + lane.calls.len() + lane.events.len()) as u64)
                }
            });
            lanes.into_iter().for_each(|(place, lane)| data.lane(&track, *place, lane));
            labels.extend(drawn.timeline.labels.iter().map(|label| safe_line(label)));
        }
        data.head = json!({
            "unit": unit,
            "end": data.ticks(end),
            "intervals": data.begins.len(),
            "events": data.times.len(),
            "states": KINDS,
            "labels": labels,
        });
        data
    }

    fn ticks(&self, time: u64) -> u32 {
        u32::try_from(time.saturating_sub(self.begin) / self.unit).unwrap_or(u32::MAX)
    }

    fn lane(&mut self, track: &Track<'_>, place: Place, lane: &Lane) {
        let of = &track.of;
        let (kind, name) = match place {
            Place::Cpu(cpu) => ("cpu", format!("CPU {cpu}{of}")),
            Place::Thread(thread) => ("thread", format!("{}-{thread}{of}", safe_line(&lane.comm))),
        };
        let [intervals, calls] = [&lane.states, &lane.calls].map(|items| self.items(track, items));
        let events = [self.times.len(), lane.events.len()];
        for (time, label) in &lane.events {
            self.times.push(self.ticks(track.time(*time)));
            self.labels.push(track.label(*label));
        }
        self.lanes.push(
            json!({ "kind": kind, "name": name, "intervals": intervals, "calls": calls, "events": events }),
        );
    }

    /// Adds intervals; gives where the first is, and how many there are.
    fn items(&mut self, track: &Track<'_>, items: &[Item]) -> [usize; 2] {
        let place = [self.begins.len(), items.len()];
        for item in items {
            self.begins.push(self.ticks(track.time(item.begin)));
            self.ends.push(self.ticks(track.time(item.end)));
            let label = track.label(item.label) & ((1 << KIND_SHIFT) - 1);
            self.kinds.push(number(item.kind) << KIND_SHIFT | label);
        }
        place
    }

    fn markup(&self) -> Markup {
        let mut head = self.head.clone();
        head["lanes"] = self.lanes.clone().into();
        // Nothing in it ends the element.
        let head = head.to_string().replace('<', "\\u003c");
        let numbers = [&self.begins, &self.ends, &self.kinds, &self.times, &self.labels];
        let bytes: Vec<u8> = numbers.into_iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        html! {
            script type="application/json" id="timeline-lanes" { (PreEscaped(head)) }
            script type="application/octet-stream" id="timeline-data" { (PreEscaped(STANDARD.encode(bytes))) }
        }
    }
}

/// The place in [`KINDS`].
fn number(kind: Kind) -> u32 {
    match kind {
        Kind::State(State::Running) => 0,
        Kind::State(State::Runnable) => 1,
        Kind::State(State::Sleeping | State::Stopped | State::Ended) => 2,
        Kind::State(State::Blocked) => 3,
        Kind::Call => 4,
        Kind::Interrupt => 5,
        Kind::Idle => 6,
    }
}
