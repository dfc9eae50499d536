//! Processes that outlive their worker. They become children of the engine, which is their subreaper.

use std::fs::{read_dir, read_to_string};
use std::time::{Duration, Instant};

use protocol::Leftover;
use protocol::stress::report::PROCESS;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// A process whose parent has just ended may need so long to end with it: it is no stray yet.
const SETTLE: Duration = Duration::from_millis(500);

/// A process that was killed may need so long to end: it may wait for a slow disk. After as long a time the kernel itself
/// reports a hung task.
pub(crate) const KILL: Duration = Duration::from_secs(120);

const PAUSE: Duration = Duration::from_millis(2);

/// Waits for processes that end with their worker, kills those that do not, and gives their names.
pub(crate) fn remove() -> Vec<Leftover> {
    if is_quiet_within(SETTLE, || ()) {
        return Vec::new();
    }
    let mut found: Vec<Leftover> = strays().into_iter().map(|stray| gone(stray.name)).collect();
    if !is_quiet_within(KILL, kill_all) {
        let stuck =
            |stray: Stray| Leftover { stuck: Some("cannot be killed".to_string()), ..gone(stray.name) };
        found = strays().into_iter().map(stuck).collect();
    }
    found
}

/// Whether no stray is left before `time` is over; does `meanwhile` over and over.
fn is_quiet_within(time: Duration, meanwhile: impl Fn()) -> bool {
    let began = Instant::now();
    loop {
        meanwhile();
        reap();
        if strays().is_empty() {
            return true;
        }
        if began.elapsed() > time {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

fn kill_all() {
    for stray in strays() {
        // It may have ended by itself.
        let _ = kill_process(stray.pid, Signal::KILL);
    }
}

/// Takes in all children that have ended.
fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

struct Stray {
    pid: Pid,
    name: String,
}

fn gone(name: String) -> Leftover {
    Leftover { name, stuck: None }
}

/// Children of this process.
fn strays() -> Vec<Stray> {
    let own = getpid().as_raw_pid();
    let pids = read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let stray = |pid: Pid| {
        let stat = read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
        let (name, parent) = name_and_parent(&stat)?;
        let name = format!("{PROCESS}{} ({name})", pid.as_raw_pid());
        (parent == own).then_some(Stray { pid, name })
    };
    pids.filter_map(stray).collect()
}

/// Reads `PID (NAME) STATE PARENT ...`: proc_pid_stat(5). A name may hold anything.
fn name_and_parent(stat: &str) -> Option<(&str, i32)> {
    let (start, rest) = stat.rsplit_once(')')?;
    let (_, name) = start.split_once('(')?;
    Some((name, rest.split_whitespace().nth(1)?.parse().ok()?))
}

/// What a process does, for a report that it did not end: its state and the function of the kernel that it sleeps in.
pub(crate) fn whereabouts(pid: Pid) -> String {
    let read = |file: &str| read_to_string(format!("/proc/{}/{file}", pid.as_raw_pid())).unwrap_or_default();
    let stat = read("stat");
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or("?");
    match read("wchan").trim() {
        "" | "0" => format!("in state {state}"),
        function => format!("in state {state} in {function}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        assert_eq!(name_and_parent("80 (a) b (c)) S 7 80"), Some(("a) b (c)", 7)));
        assert_eq!(name_and_parent("80 (a"), None);
        assert_eq!(name_and_parent(""), None);
    }

    #[test]
    fn a_process_says_where_it_is() {
        assert!(whereabouts(getpid()).starts_with("in state "));
    }
}
