//! Each thread in a line.

use std::time::Duration;

use protocol::latency::ThreadReport;

use super::time;
use crate::columns::Columns;
use crate::figures::count;
use crate::words::seconds;

const COLUMNS: Columns<11> = Columns {
    head: [
        "CPU",
        "SAMPLES",
        "MINIMUM",
        "MEDIAN",
        "99 %",
        "MAXIMUM",
        "LATE",
        "FAULTS",
        "SWITCHES",
        "PREEMPTED",
        "CPU TIME",
    ],
    right: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    spared: &[],
};

/// Threads that are shown at most.
const THREADS_MAX: usize = 256;

pub(super) fn table(threads: &[ThreadReport]) -> String {
    let shown = &threads[..threads.len().min(THREADS_MAX)];
    let rows: Vec<[String; 11]> = shown.iter().map(row).collect();
    let widths = COLUMNS.widths(&rows, None);
    let heads = COLUMNS.heads();
    let lines = std::iter::once(&heads).chain(&rows).map(|row| COLUMNS.line(row, &widths) + "\n");
    let rest = match threads.len() - shown.len() {
        0 => String::new(),
        more => format!("and {more} more\n"),
    };
    format!("\n{}{rest}", lines.collect::<String>())
}

fn row(thread: &ThreadReport) -> [String; 11] {
    let latencies = &thread.latencies;
    let known = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), time);
    let some = |value: u64| Some(value).filter(|_| latencies.count() > 0);
    let used = thread.usage;
    let of_usage = |figure: Option<String>| figure.unwrap_or_else(|| "-".to_owned());
    [
        thread.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
        count(latencies.count()),
        known(some(latencies.minimum)),
        known(latencies.percentile(50_000)),
        known(latencies.percentile(99_000)),
        known(some(latencies.maximum)),
        count(thread.late_cycles),
        of_usage(used.map(|it| count(it.minor_faults.saturating_add(it.major_faults)))),
        of_usage(used.map(|it| count(it.voluntary_switches.saturating_add(it.involuntary_switches)))),
        of_usage(used.map(|it| count(it.involuntary_switches))),
        of_usage(used.map(|it| seconds(Duration::from_micros(it.user_us.saturating_add(it.system_us))))),
    ]
}
