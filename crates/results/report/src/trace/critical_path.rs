//! What a thread waited for, and what that waited for.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use viewer::critical_path::{History, Part};

use crate::safe::safe_line;
use crate::table::Table;
use crate::times::{in_seconds, nanoseconds, share};

/// The path of a thread for people: what took how long in all, and its parts, the longest first; `begin` is that of the trace.
#[must_use]
pub fn text(history: &History, thread: i32, begin: u64) -> String {
    let parts = history.path(thread);
    let all = parts.iter().map(length).sum();
    let name = |thread: i32| format!("{}-{thread}", safe_line(history.name(thread).unwrap_or("?")));
    let mut sums: BTreeMap<[String; 3], (u64, usize)> = BTreeMap::new();
    for part in &parts {
        let sum = sums.entry([part.state.name().to_owned(), name(part.thread), what(part)]).or_default();
        (sum.0, sum.1) = (sum.0 + length(part), sum.1 + 1);
    }
    let sums = sums.into_iter().map(|([state, thread, what], (time, count))| {
        (time, [nanoseconds(time), share(time, all), count.to_string(), state, thread, what])
    });
    let sums = Table::sorted(["TIME", "%", "TIMES", "STATE", "THREAD", "IN OR UNTIL"], 3, sums);
    let parts = parts.iter().map(|part| {
        let at = in_seconds(part.begin.saturating_sub(begin));
        let state = part.state.name().to_owned();
        (length(part), [nanoseconds(length(part)), at, state, name(part.thread), what(part)])
    });
    let parts = Table::sorted(["LONGEST", "AT", "STATE", "THREAD", "IN OR UNTIL"], 3, parts);
    format!("critical path of {}: {}\n{}{}", name(thread), nanoseconds(all), sums.text(), parts.text())
}

fn length(part: &Part) -> u64 {
    part.end.saturating_sub(part.begin)
}

/// The system call that the thread was in, and the interrupt that ended its waiting.
fn what(part: &Part) -> String {
    let call = part.call.as_deref().map(safe_line).unwrap_or_default();
    let interrupt = part.interrupt.as_deref().map(|name| format!("interrupt {}", safe_line(name)));
    [call, interrupt.unwrap_or_default()].join(" ").trim().to_owned()
}

/// The same for programs: its parts, the earliest first.
#[must_use]
pub fn json(history: &History, thread: i32) -> Value {
    let parts = history.path(thread).into_iter().map(|part| {
        json!({
            "tid": part.thread,
            "comm": history.name(part.thread),
            "begin_ns": part.begin,
            "end_ns": part.end,
            "state": part.state.name(),
            "call": part.call.as_deref(),
            "interrupt": part.interrupt.as_deref(),
        })
    });
    parts.collect()
}
