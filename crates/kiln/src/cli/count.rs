//! What can be said of a count.

use std::time::Duration;

use clap::Args;
use protocol::count::{CountRequest, Event, Part, WrongEvent};
use script::nearest::nearest;

use super::{OUTPUT, Place, Workload};
use crate::units;

/// What is counted if nobody says anything else.
const EVENTS: [&str; 6] =
    ["task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles", "instructions"];

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln count --exec ./load                                   time, switches, faults, and what the CPU counts, if it does
  kiln count --events ctx,faults,tlb-flushes --per-process --exec make -- -j2
  kiln count --events sched:sched_wakeup,syscalls --interval 100ms --exec ./load
  kiln count --events faults,task-clock --per-thread --exec ./load
  kiln count --events forks,context-switches --duration 10s  everything on this host
  kiln count --events faults,ctx --pid 4711                  a process that runs already
  kiln count --in deb:latest-cloud --events faults,kprobe:vfs_read --exec ./load
  kiln count --in deb:latest-cloud --events instructions --per-process --exec ./load     exact, whatever the host does

What this machine or kernel cannot count is listed with the reason. Where a CPU cannot count all events at once it takes turns: a count is then \
an estimate, with the share of the time in which it was made and its error. Exit codes: 0 counted, 2 wrong usage, 3 broken, 4 there is \
no such program or nothing can be counted.";

/// `kiln count`.
#[derive(Debug, Args)]
pub(crate) struct Count {
    /// What to count, separated by commas: names such as page-faults and instructions, tracepoints such as sched:sched_switch, functions of the
    /// kernel such as kprobe:vfs_read, or the CPU's own numbers such as r1a8 [default:
    /// task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions]
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', value_parser = event)]
    pub(crate) events: Vec<Event>,
    #[command(flatten)]
    pub(crate) workload: Workload,
    /// Show what each process of the program had
    #[arg(long, requires = "exec", conflicts_with = "everywhere")]
    pub(crate) per_process: bool,
    /// Show what each thread of the program had
    #[arg(long, requires = "exec", conflicts_with_all = ["everywhere", "per_process"])]
    pub(crate) per_thread: bool,
    /// Show what there was in each interval, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) interval: Option<Duration>,
    /// Show the counts as they grow, once a second
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) live: bool,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

impl Count {
    /// Where it is counted.
    pub(crate) fn place(&self) -> Place {
        self.place.with_clock_for(&self.events, &self.workload)
    }

    fn per(&self) -> Option<Part> {
        let per_process = self.per_process.then_some(Part::Process);
        per_process.or_else(|| self.per_thread.then_some(Part::Thread))
    }

    /// What is asked, of this workload in the machine of a place.
    pub(crate) fn request(&self, workload: protocol::workload::Workload, place: &Place) -> CountRequest {
        let usual = || EVENTS.iter().filter_map(|name| name.parse().ok()).collect();
        CountRequest {
            events: if self.events.is_empty() { usual() } else { self.events.clone() },
            workload,
            per: self.per(),
            interval_ms: self.interval.map(units::milliseconds),
            instruction_ns: place.instruction_ns(),
        }
    }
}

/// An event by its name, or the nearest one.
pub(super) fn event(text: &str) -> Result<Event, String> {
    text.parse().map_err(|error: WrongEvent| match nearest(text, Event::names()) {
        Some(near) => format!("{error}; did you mean {near}?"),
        None => error.to_string(),
    })
}
