//! A program and all that it started.

use std::collections::HashMap;
use std::time::Duration;

use observe::job::Life;
use observe::{Ending, Job};
use serde_json::{Value, json};

use crate::safe::safe_line;
use crate::table::Table;
use crate::words::{counted, span};

/// Generations that are indented.
const DEPTH_MAX: usize = 64;

/// Processes that were killed and are listed.
const KILLED_MAX: usize = 20;

/// How many processes there were, what they used, and which were killed.
#[must_use]
pub fn summary(job: &Job) -> String {
    let lives = job.lives();
    let count = lives.len() + usize::try_from(job.others()).unwrap_or_default();
    let programs: u32 = lives.iter().map(|life| life.programs).sum();
    let threads: u32 = lives.iter().map(|life| life.threads).sum();
    let failed =
        lives.iter().filter(|life| life.end.is_some_and(|end| matches!(end.ending, Ending::Code(1..))));
    let alive = lives.iter().filter(|life| life.end.is_none()).count();
    let mut parts = vec![
        if count == 1 { "1 process".to_owned() } else { format!("{count} processes") },
        counted(usize::try_from(programs).unwrap_or_default(), "program"),
    ];
    let mut add = |count: usize, text: &str| {
        if count > 0 {
            parts.push(format!("{count} {text}"));
        }
    };
    add(usize::try_from(threads).unwrap_or_default(), "more threads");
    add(failed.count(), "with an exit code that is not 0");
    add(killed(job).count(), "killed by a signal");
    add(alive, "still there");
    let mut lines = parts.join(", ");
    for (at, life) in killed(job).take(KILLED_MAX) {
        lines += &format!("\n  {}: {}", title(job, at, life), how(life));
    }
    lines
}

fn killed(job: &Job) -> impl Iterator<Item = (usize, &Life)> {
    let is_killed = |life: &Life| life.end.is_some_and(|end| !matches!(end.ending, Ending::Code(_)));
    job.lives().iter().enumerate().filter(move |(_, life)| is_killed(life))
}

fn title(job: &Job, at: usize, life: &Life) -> String {
    format!("{} {}", life.process, safe_line(job.command(at)))
}

/// How a process ended, and where the signal came from.
fn how(life: &Life) -> String {
    let Some(end) = life.end else { return "still there".to_owned() };
    match (end.ending, life.signal) {
        (Ending::Killed { core, .. }, Some(signal)) => {
            format!("killed by {signal}{}", if core { ", core dumped" } else { "" })
        }
        (Ending::Unseen, Some(signal)) => format!("ended unseen after {signal}"),
        (ending, _) => ending.to_string(),
    }
}

/// A line for each process, below that which made it.
#[must_use]
pub fn tree(job: &Job) -> String {
    let children = job.children();
    let mut lines = String::new();
    let roots = job.lives().iter().enumerate().filter(|(_, life)| life.parent.is_none());
    let mut ahead: Vec<(usize, usize)> = roots.map(|(at, _)| (at, 0)).collect();
    ahead.reverse();
    while let Some((at, depth)) = ahead.pop() {
        let life = &job.lives()[at];
        let lived = life.duration().map(span).unwrap_or_default();
        let ending = life.end.filter(|end| !end.ending.is_success()).map(|_| format!("  [{}]", how(life)));
        let indent = "  ".repeat(depth.min(DEPTH_MAX));
        // A process that ran no program of its own is a copy of the one above.
        let command = if life.command.is_empty() { "(fork)".to_owned() } else { safe_line(&life.command) };
        lines +=
            &format!("{lived:>8}  {:>7}  {indent}{command}{}\n", life.process, ending.unwrap_or_default());
        ahead.extend(children[at].iter().rev().map(|&child| (child, depth + 1)));
    }
    lines
}

/// What each program did: how often it ran, and what that took.
#[must_use]
pub fn statistics(job: &Job) -> String {
    let mut programs: HashMap<&str, (u32, Duration, Duration)> = HashMap::new();
    for (at, life) in job.lives().iter().enumerate() {
        let program = job.command(at).split(' ').next().unwrap_or_default();
        let entry = programs.entry(program.rsplit('/').next().unwrap_or(program)).or_default();
        let lived = life.duration().unwrap_or_default();
        *entry = (entry.0 + 1, entry.1.saturating_add(lived), entry.2.max(lived));
    }
    let row = |(name, (count, total, longest)): (&str, (u32, Duration, Duration))| {
        let [all, mean, longest] = [total, total / count.max(1), longest].map(span);
        ((total, name.to_owned()), [count.to_string(), all, mean, longest, safe_line(name)])
    };
    Table::sorted(["PROCESSES", "TOTAL", "MEAN", "LONGEST", "PROGRAM"], 1, programs.into_iter().map(row))
        .text()
}

/// All of it for programs.
#[must_use]
pub fn json(job: &Job) -> Value {
    let life = |(at, life): (usize, &Life)| {
        json!({
            "process": life.process,
            "parent": life.parent.map(|parent| job.lives()[parent].process),
            "command": job.command(at),
            "programs": life.programs,
            "threads": life.threads,
            "began_ns": life.began,
            "ended_ns": life.end.map(|end| end.time),
            "end": life.end.map(|end| ending_json(&end.ending)),
            "user_ns": u64::try_from(life.usage.user.as_nanos()).unwrap_or(u64::MAX),
            "system_ns": u64::try_from(life.usage.system.as_nanos()).unwrap_or(u64::MAX),
            "max_rss_kib": life.usage.memory,
        })
    };
    json!({ "processes": job.lives().iter().enumerate().map(life).collect::<Vec<_>>(), "others": job.others() })
}

/// An exit code, or a signal.
pub(super) fn ending_json(ending: &Ending) -> Value {
    match ending {
        Ending::Code(code) => json!({ "code": code }),
        Ending::Unseen => json!({}),
        Ending::Killed { signal, core } => json!({ "signal": observe::signal::name(*signal), "core": core }),
    }
}

#[cfg(test)]
mod tests {
    use observe::{Cause, Event, Signal, What};

    use super::*;

    fn event(process: i32, seconds: u64, what: What) -> Event {
        Event { time: seconds * 1_000_000_000, process, thread: process, what }
    }

    #[test]
    fn a_job_is_a_line_and_a_tree() {
        // Numbers that no process has: the command lines are not those of this host.
        let (first, second, third) = (i32::MAX, i32::MAX - 1, i32::MAX - 2);
        let signal = Signal { number: 11, cause: Cause::Fault(16), is_fatal: true };
        let mut job = Job::new(first, 0);
        for event in [
            event(first, 0, What::Exec),
            event(first, 1, What::Fork { child: second }),
            event(second, 1, What::Fork { child: third }),
            event(second, 2, What::Signal(signal)),
            event(second, 3, What::Exit(Ending::Killed { signal: 11, core: true })),
            event(third, 4, What::Exit(Ending::Code(2))),
        ] {
            job.see(&event);
        }
        assert_eq!(
            summary(&job),
            "3 processes, 1 program, 1 with an exit code that is not 0, 1 killed by a signal, 1 still there
  2147483646 : killed by SIGSEGV at 0x10, core dumped"
        );
        assert_eq!(
            tree(&job),
            "          2147483647  (fork)
   2.0 s  2147483646    (fork)  [killed by SIGSEGV at 0x10, core dumped]
   3.0 s  2147483645      (fork)  [exit 2]
"
        );
        assert_eq!(json(&job)["processes"][1]["end"], json!({ "signal": "SIGSEGV", "core": true }));
    }
}
