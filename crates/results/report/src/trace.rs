//! What a kernel did.
//!
//! * [`mod@line`]: an event; [`perf_script`], [`perfetto`]: events for other programs
//! * [`statistics`], [`activity`], [`latency`], [`tree`], [`critical_path`], [`moment`], [`mod@patterns`], [`differences`]: the views of a trace, as text and JSON
//! * [`timeline`]: a page that draws it

pub mod activity;
pub mod critical_path;
pub mod differences;
pub mod latency;
mod line;
pub mod moment;
pub mod patterns;
mod perf_script;
mod perfetto;
pub mod statistics;
mod timeline;
pub mod tree;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use transcode::Summary;

use crate::figures::count;
use crate::safe::safe_line;
use crate::words::{counted, seconds};

pub use line::{json_line, text_line};
pub use perf_script::perf_script_line;
pub use perfetto::Perfetto;
pub use timeline::{Drawn, Page, html};

/// What is known of a recording, in one line, perhaps with the time that it took.
#[must_use]
pub fn summary(summary: &Summary, took: Option<Duration>) -> String {
    let Summary { counts, cpus, release, clock, .. } = summary;
    let on = cpus.as_ref().map(|cpus| cpus.iter().filter(|cpu| cpu.read > 0).count());
    let on = on.map(|cpus| format!(" on {}", counted(cpus, "CPU"))).unwrap_or_default();
    let lost = match summary.lost() {
        0 => "none lost".to_owned(),
        lost => format!("{} LOST: a larger --buffer or fewer --events help", count(lost)),
    };
    let cut = if cpus.is_none() { "; the recording was cut off" } else { "" };
    let end = if summary.has_happened { "; the event has ended the recording" } else { "" };
    let unreadable = counts.unreadable + summary.unreadable;
    let damage =
        if unreadable > 0 { format!("; {} pieces unreadable", count(unreadable)) } else { String::new() };
    let took = took.map(|took| format!(" in {}", seconds(took))).unwrap_or_default();
    let clock = clock.filter(|clock| clock.is_aligned);
    let clock = clock.map(|clock| format!("; clock aligned within {} us", clock.error_us()));
    let (events, kernel, clock) = (count(counts.events), safe_line(release), clock.unwrap_or_default());
    format!("{events} events{on}{took}, {lost}{cut}{end}{damage}{clock}; kernel {kernel}")
}

/// The same for programs.
#[must_use]
pub fn document(summary: &Summary, took: Option<Duration>) -> Value {
    let cpus = summary.cpus.iter().flatten();
    let cpus: Vec<Value> = cpus
        .map(
            |cpu| json!({ "cpu": cpu.cpu, "read": cpu.read, "overrun": cpu.overrun, "dropped": cpu.dropped }),
        )
        .collect();
    let missing: BTreeSet<&str> = summary.missing.iter().map(|(event, _)| event.as_str()).collect();
    json!({
        "release": summary.release,
        "seconds": took.map(|took| took.as_secs_f64()),
        "events": summary.counts.events,
        "lost": summary.lost(),
        "is_whole": summary.cpus.is_some(),
        "is_ended_by_event": summary.has_happened,
        "unreadable": summary.counts.unreadable + summary.unreadable,
        "clock": summary.clock.map(|clock| json!({
            "offset_ns": clock.offset, "error_ns": clock.error_ns, "is_that_of_the_host": clock.is_aligned
        })),
        "cpus": cpus,
        "missing": missing,
    })
}
