//! What `kiln probe` prints.

use std::io;
use std::time::Duration;

use protocol::probe::{
    Found, Function, LockKind, LockWaits, Open, PageCache, ProbeReport, Programs, Slab, Tool,
};
use serde_json::{Value, json};

use crate::count::what;
use crate::figures::{count, figure};
use crate::json_line;
use crate::safe::{safe, safe_line};
use crate::words::{counted, span};

/// Rows of a table; of a log, and of functions, which somebody has named, there are all.
const ROWS: usize = 40;

/// Columns of a number.
const NUMBER: usize = 14;

/// Columns of a lock.
const LOCK: usize = 32;

/// What is known so far, in a line: `3.0 s: 1,234 calls of vfs_read`.
#[must_use]
pub fn progress(report: &ProbeReport) -> String {
    let elapsed = span(Duration::from_nanos(report.elapsed_ns));
    let most = match &report.found {
        Found::PageCache(rows) => {
            rows.first().map(|row| format!("{} pages used by {}", count(row.accessed), row.name))
        }
        Found::Programs(rows) => {
            rows.first().map(|row| format!("{} forks by {}", count(row.processes), row.name))
        }
        Found::Functions(rows) => {
            rows.first().map(|row| format!("{} calls of {}", count(row.calls), row.name))
        }
        Found::Locks(rows) => {
            rows.first().map(|row| format!("{} waited for in {}", time(row.total_ns), row.caller))
        }
        Found::Opens { opens, omitted } => {
            let opens = u64::try_from(opens.len()).unwrap_or(u64::MAX).saturating_add(*omitted);
            Some(format!("{} files opened", count(opens)))
        }
        Found::Slabs(rows) => {
            rows.first().map(|row| format!("{} objects of {}", count(row.objects), row.cache))
        }
        Found::Output { text, .. } => text.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned),
    };
    format!("{elapsed}{}", most.map(|most| format!(": {}", safe_line(&most))).unwrap_or_default())
}

/// All that was found.
#[must_use]
pub fn text(report: &ProbeReport) -> String {
    let what = what(&report.request.workload, report.status, report.signal);
    let head = format!(
        "{what}, {} of {}\n\n",
        span(Duration::from_nanos(report.elapsed_ns)),
        report.request.tool.name()
    );
    head + &found(report) + &notes(report)
}

/// The same for programs, as a line of JSON. What a script prints for them are bpftrace's own objects: `results` has them in their order.
///
/// # Errors
///
/// None that is expected: a report can be written as JSON.
pub fn json(report: &ProbeReport) -> io::Result<String> {
    let mut value = serde_json::to_value(report)?;
    let tool = &report.request.tool;
    if let (Found::Output { text, omitted }, Tool::Bpftrace { json: true, .. }) = (&report.found, tool) {
        value["found"] = json!({ "results": results(text), "omitted": omitted });
    }
    json_line(&value)
}

/// An object for each line. A line that is none is text: a program that the script runs has printed it, or there was no room for all of
/// it.
fn results(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let object = |line| serde_json::from_str(line).ok().filter(Value::is_object);
    lines.map(|line| object(line).unwrap_or_else(|| line.into())).collect()
}

fn found(report: &ProbeReport) -> String {
    let elapsed = Duration::from_nanos(report.elapsed_ns);
    match &report.found {
        Found::PageCache(rows) => {
            let heads = ["ACCESSED", "ADDED", "DIRTIED", "BUFFERS", "HITS"];
            table(&heads, "    PID  PROGRAM", rows, page_cache)
        }
        Found::Programs(rows) => {
            table(&["PROCESSES", "THREADS", "EXECUTED", "ENDED"], "PROGRAM", rows, programs)
        }
        Found::Functions(rows) => functions(rows),
        Found::Locks(rows) => {
            let last = format!("{:LOCK$}  CALLER", "LOCK");
            table(&["WAITS", "TOTAL", "MEAN", "LONGEST"], &last, rows, locks)
        }
        Found::Opens { opens, omitted } => self::opens(opens, *omitted),
        Found::Slabs(rows) => {
            table(&["OBJECTS", "OBJECTS/s", "BYTES"], "CACHE", rows, |row| slab(row, elapsed))
        }
        Found::Output { text, omitted } => output(text, *omitted),
    }
}

/// Numbers in columns, and what they are of.
fn table<T>(heads: &[&str], last: &str, rows: &[T], row: impl Fn(&T) -> (Vec<String>, String)) -> String {
    let line = |numbers: &[String], name: &str| {
        let numbers: String = numbers.iter().map(|number| format!("{number:>NUMBER$}")).collect();
        format!("{numbers}  {}\n", safe_line(name))
    };
    let heads: Vec<String> = heads.iter().map(|&head| head.to_owned()).collect();
    let mut out = line(&heads, last);
    for one in rows.iter().take(ROWS) {
        let (numbers, name) = row(one);
        out += &line(&numbers, &name);
    }
    if let Some(left) = rows.len().checked_sub(ROWS).filter(|left| *left > 0) {
        out += &format!("and {left} more with smaller numbers: --json has all\n");
    }
    out
}

fn page_cache(row: &PageCache) -> (Vec<String>, String) {
    let numbers = [row.accessed, row.added, row.dirtied, row.buffers_dirtied].map(count);
    let hits = row.hits().map_or("-".to_owned(), |hits| format!("{:.1} %", 100.0 * hits));
    (numbers.into_iter().chain([hits]).collect(), format!("{:>7}  {}", row.pid, row.name))
}

fn programs(row: &Programs) -> (Vec<String>, String) {
    ([row.processes, row.threads, row.executed, row.ended].map(count).to_vec(), row.name.clone())
}

fn slab(row: &Slab, elapsed: Duration) -> (Vec<String>, String) {
    (vec![count(row.objects), rate(row.objects, elapsed), count(row.bytes)], row.cache.clone())
}

fn locks(row: &LockWaits) -> (Vec<String>, String) {
    let mean = row.total_ns.checked_div(row.waits).unwrap_or_default();
    let times = [row.total_ns, mean, row.longest_ns].map(time);
    let lock =
        [Some(kind(row.kind)), row.lock.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let numbers = [count(row.waits)].into_iter().chain(times).collect();
    (numbers, format!("{lock:LOCK$}  {}", row.caller))
}

fn kind(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Mutex => "mutex",
        LockKind::PercpuRwsem => "percpu_rw_semaphore",
        LockKind::RtMutex => "rt_mutex",
        LockKind::Rwlock => "rwlock_t",
        LockKind::Rwsem => "rw_semaphore",
        LockKind::Semaphore => "semaphore",
        LockKind::Spinlock => "spinlock_t",
    }
}

/// How often a second.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a figure for people"
)]
fn rate(of: u64, elapsed: Duration) -> String {
    if elapsed.is_zero() {
        return "-".to_owned();
    }
    count((of as f64 / elapsed.as_secs_f64()).round() as u64)
}

fn functions(rows: &[Function]) -> String {
    let called = rows.iter().filter(|row| row.calls > 0);
    let mut out = format!("{:>NUMBER$}  FUNCTION\n", "CALLS");
    for row in called.clone() {
        let module = row.module.as_deref().map(|module| format!(" [{}]", safe_line(module)));
        let name = safe_line(&row.name) + &module.unwrap_or_default();
        out += &format!("{:>NUMBER$}  {name}\n", count(row.calls));
    }
    let silent = rows.len() - called.count();
    if silent > 0 {
        out += &format!("\n{} not called\n", counted(silent, "other function"));
    }
    out
}

fn opens(opens: &[Open], omitted: u64) -> String {
    let mut out = format!("{:>12} {:>10} {:>8}  {:16} {:>9}  PATH\n", "TIME", "TOOK", "PID", "PROGRAM", "FD");
    for open in opens {
        let result = open.error.clone().unwrap_or_else(|| open.result.to_string());
        out += &format!(
            "{:>12} {:>10} {:>8}  {:16} {:>9}  {}\n",
            time(open.time_ns),
            time(open.elapsed_ns),
            open.pid,
            safe_line(&open.name),
            safe_line(&result),
            safe_line(&open.path)
        );
    }
    if omitted > 0 {
        out += &format!("and {} others\n", count(omitted));
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn time(nanoseconds: u64) -> String {
    figure(nanoseconds as f64, &measure::Unit::Nanoseconds)
}

fn output(text: &str, omitted: u64) -> String {
    let mut out = safe(text.trim_matches('\n')) + "\n";
    if omitted > 0 {
        out += &format!("\nand {} other bytes\n", count(omitted));
    }
    out
}

fn notes(report: &ProbeReport) -> String {
    let mut out = String::new();
    for one in &report.missing {
        out += &format!("\n{}: {}", safe_line(&one.what), safe_line(&one.why));
    }
    if report.lost > 0 {
        let lost = counted(usize::try_from(report.lost).unwrap_or(usize::MAX), "event");
        out += &format!("\n{lost} lost: there was no room for them, and they are in nothing above");
    }
    if out.is_empty() { out } else { out + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::probe::{Missing, ProbeRequest};
    use protocol::workload::Workload;

    fn page(tool: Tool, found: Found) -> String {
        let report = report(tool, found);
        assert_eq!(report.validate(), Ok(()));
        format!("{}\n\n{}", progress(&report), text(&report))
    }

    fn report(tool: Tool, found: Found) -> ProbeReport {
        let command = ["./load", "\u{1b}[31m"].map(str::to_owned).to_vec();
        ProbeReport {
            request: ProbeRequest { tool, workload: Workload { command, ..Workload::default() } },
            elapsed_ns: 2_000_000_000,
            status: Some(1),
            signal: None,
            found,
            missing: vec![Missing { what: "accessed".to_owned(), why: "no probes".to_owned() }],
            lost: 2,
        }
    }

    fn open(path: &str, result: i32, error: Option<&str>) -> Open {
        Open {
            time_ns: 1_234_567,
            elapsed_ns: 9800,
            pid: 17,
            tid: 18,
            name: "cat".to_owned(),
            result,
            error: error.map(str::to_owned),
            path: path.to_owned(),
        }
    }

    #[test]
    fn opens_are_a_log() {
        let opens = vec![open("/etc/passwd", 3, None), open("/no\n\u{1b}[2J", -2, Some("ENOENT"))];
        insta::assert_snapshot!(page(Tool::Opensnoop { failed: false }, Found::Opens { opens, omitted: 5 }));
    }

    #[test]
    fn functions_are_those_that_were_called() {
        let function = |name: &str, module: Option<&str>, calls| Function {
            name: name.to_owned(),
            module: module.map(str::to_owned),
            calls,
        };
        let rows = vec![
            function("vfs_read", None, 12_345),
            function("ext4_readdir", Some("ext4"), 1),
            function("vfs_write", None, 0),
        ];
        let tool = Tool::Funccount { patterns: vec!["vfs_*".to_owned()] };
        insta::assert_snapshot!(page(tool, Found::Functions(rows)));
    }

    #[test]
    fn tables_have_numbers_before_names() {
        let slab = |cache: &str| Slab { cache: cache.to_owned(), objects: 1000, bytes: 192_000 };
        insta::assert_snapshot!("slabs", page(Tool::Slabratetop, Found::Slabs(vec![slab("dentry"); 42])));
        let waits = |lock: Option<&str>, caller: &str| LockWaits {
            kind: LockKind::Rwsem,
            lock: lock.map(str::to_owned),
            caller: caller.to_owned(),
            waits: 1500,
            total_ns: 3_000_000,
            longest_ns: 1_200_000,
        };
        let rows =
            vec![waits(None, "do_user_addr_fault"), waits(Some("kernfs_rwsem"), "kernfs_iop_permission")];
        insta::assert_snapshot!("locks", page(Tool::Klockstat, Found::Locks(rows)));
        let programs = Programs { name: "sh".to_owned(), processes: 4, threads: 0, executed: 1, ended: 2 };
        insta::assert_snapshot!("programs", page(Tool::Forks, Found::Programs(vec![programs])));
        let process = |accessed, added| PageCache {
            pid: 17,
            name: "cat".to_owned(),
            accessed,
            added,
            dirtied: 0,
            buffers_dirtied: 0,
        };
        let rows = vec![process(2000, 500), process(0, 0)];
        insta::assert_snapshot!("page_cache", page(Tool::Cachetop, Found::PageCache(rows)));
    }

    #[test]
    fn what_a_script_prints_is_shown_as_it_is() {
        let text = "\n@[cat]: 17\n@: \n[2, 4)  3 |@@@|\n\u{1b}[2J\n".to_owned();
        let tool = Tool::Bpftrace { script: "BEGIN {}".to_owned(), json: false };
        insta::assert_snapshot!(page(tool, Found::Output { text, omitted: 9 }));
    }

    #[test]
    fn programs_get_the_objects_of_a_script() {
        let line = r#"{"type": "map", "data": {"@forks": {"sh": 17}}}"#;
        let text = format!("{line}\n\nsaid \u{1b} by date\n17\n{}\n", &line[..20]);
        let found = |json| {
            let tool = Tool::Bpftrace { script: "BEGIN {}".to_owned(), json };
            let found = Found::Output { text: text.clone(), omitted: 9 };
            let line = super::json(&report(tool, found)).expect("it is data");
            assert!(!line.contains('\u{1b}'), "{line}");
            serde_json::from_str::<Value>(&line).expect("it is JSON")["found"].take()
        };
        let map = json!({ "type": "map", "data": { "@forks": { "sh": 17 } } });
        let others = ["said \u{1b} by date", &line[..20]];
        assert_eq!(found(true), json!({ "results": [map, others[0], "17", others[1]], "omitted": 9 }));
        assert_eq!(found(false), json!({ "output": { "text": text, "omitted": 9 } }));
    }
}
