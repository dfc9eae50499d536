//! What ran at the first late wake-up: a trace of the kernel.
//!
//! The trace has an instance of its own, so that it does not disturb any other user of tracefs, and a small ring buffer that
//! is overwritten until somebody stops it: Documentation/trace/ftrace.rst.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use protocol::latency::{TEXT_MAX, TRACE_LINES_MAX};
use protocol::results::cut;

/// Where tracefs is mounted.
const TRACEFS: &str = "/sys/kernel/tracing";

/// What an instance is called, with the process's number behind it.
const NAME: &str = "kiln-latency-";

/// The ring buffer of each CPU, in KiB: more than a thousand events.
const BUFFER_KIB: &str = "64";

/// Without these there is nothing to show.
const EVENTS: [&str; 2] = ["sched/sched_switch", "sched/sched_wakeup"];

/// Those that not every kernel has. Timers of x86 are vectors of their own, and no interrupts with a number.
const MORE_EVENTS: [&str; 10] = [
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_raise",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "irq_vectors/local_timer_entry",
    "irq_vectors/local_timer_exit",
    "irq_vectors/reschedule_entry",
    "irq_vectors/call_function_single_entry",
    "timer/hrtimer_expire_entry",
];

/// Lines that are shown before those from the deadline on: they say what ran then.
const BEFORE: usize = 4;

/// Lines of the beginning if not all of them can be shown.
const BEGIN: usize = 15;

/// Bytes of a trace that are read at most.
const READ_MAX: u64 = 1 << 20;

/// An instance, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Trace {
    directory: PathBuf,
    switch: Option<File>,
}

impl Trace {
    /// Begins to trace.
    ///
    /// # Errors
    ///
    /// Why not, in one line.
    pub(crate) fn start() -> Result<Self, String> {
        let instances = Path::new(TRACEFS).join("instances");
        if !instances.is_dir() {
            return Err(format!(
                "no trace: {TRACEFS} is not there or not for this user; as root: mount -t tracefs tracefs {TRACEFS}"
            ));
        }
        remove_stale(&instances);
        let directory = instances.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&directory).map_err(|error| failed(&directory, &error))?;
        let mut trace = Self { directory, switch: None };
        trace.set_up()?;
        Ok(trace)
    }

    /// Stops it, so that nothing that was seen is overwritten. It takes one system call.
    pub(crate) fn stop(&self) {
        if let Some(mut switch) = self.switch.as_ref() {
            // A trace that goes on shows too much, not too little.
            let _ = switch.write_all(b"0");
        }
    }

    /// What ran on a CPU from a deadline on, as CLOCK_MONOTONIC gives it.
    pub(crate) fn since(&self, deadline_ns: u64, cpu: u32) -> Vec<String> {
        let file = self.directory.join(format!("per_cpu/cpu{cpu}/trace"));
        let mut text = Vec::new();
        match File::open(&file).and_then(|file| file.take(READ_MAX).read_to_end(&mut text)) {
            Ok(_) => excerpt(&String::from_utf8_lossy(&text), deadline_ns),
            Err(error) => vec![failed(&file, &error)],
        }
    }

    fn set_up(&mut self) -> Result<(), String> {
        self.write("tracing_on", "0")?;
        self.write("buffer_size_kb", BUFFER_KIB)?;
        // Times that can be compared with deadlines.
        self.write("trace_clock", "mono")?;
        for event in EVENTS {
            self.enable(event)?;
        }
        for event in MORE_EVENTS {
            let _ = self.enable(event);
        }
        let path = self.directory.join("tracing_on");
        self.switch = Some(File::options().write(true).open(&path).map_err(|error| failed(&path, &error))?);
        self.write("tracing_on", "1")
    }

    fn enable(&self, event: &str) -> Result<(), String> {
        self.write(&format!("events/{event}/enable"), "1")
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.directory.join(file);
        fs::write(&path, text).map_err(|error| failed(&path, &error))
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.stop();
        // An instance whose files are open is not removed.
        self.switch = None;
        // What stays is removed by the next one.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Removes what others have left that were killed.
fn remove_stale(instances: &Path) {
    let names = fs::read_dir(instances).into_iter().flatten().flatten().map(|entry| entry.file_name());
    for name in names.filter(|name| owner(&name.to_string_lossy()).is_some_and(|owner| !owner.exists())) {
        // Somebody else may have done it.
        let _ = fs::remove_dir(instances.join(name));
    }
}

/// Where the process is that an instance belongs to, if it is one of ours.
fn owner(name: &str) -> Option<PathBuf> {
    let number: u32 = name.strip_prefix(NAME)?.parse().ok()?;
    Some(Path::new("/proc").join(number.to_string()))
}

/// The last lines of a trace. If that leaves out what ran at the deadline, the lines from there on come first.
fn excerpt(text: &str, deadline_ns: u64) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let deadline_us = deadline_ns / 1_000;
    let at_deadline = lines.iter().position(|line| stamp(line).is_some_and(|stamp| stamp >= deadline_us));
    let first = at_deadline.unwrap_or(lines.len()).saturating_sub(BEFORE);
    let last = lines.len().saturating_sub(TRACE_LINES_MAX);
    let kept = |line: &&str| cut(line.trim_end(), TEXT_MAX).to_owned();
    if first >= last {
        return lines[last..].iter().map(kept).collect();
    }
    let (begin, end) = (&lines[first..first + BEGIN], &lines[last + BEGIN + 1..]);
    let left_out = last + 1 - first;
    let mark = format!("... {left_out} lines left out");
    begin.iter().map(kept).chain([mark]).chain(end.iter().map(kept)).collect()
}

/// The time of a line in microseconds: `12` and `000345` in `<idle>-0 [000] d... 12.000345: sched_switch: ...`.
fn stamp(line: &str) -> Option<u64> {
    let times = line.split_whitespace().filter_map(|word| word.strip_suffix(':')?.split_once('.'));
    let mut stamps = times.filter(|(_, fraction)| fraction.len() == 6).filter_map(|(seconds, fraction)| {
        let [seconds, fraction] = [seconds, fraction].map(|digits| digits.parse::<u64>().ok());
        seconds?.checked_mul(1_000_000)?.checked_add(fraction?)
    });
    stamps.next()
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    cut(&format!("no trace: {}: {error}", path.display()), TEXT_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of a CPU, a microsecond apart.
    fn events(numbers: std::ops::Range<usize>) -> Vec<String> {
        numbers.map(|number| format!("  a.b:-0  [000] d... 12.{number:06}: sched_switch: x: 1.2:")).collect()
    }

    #[test]
    fn the_last_lines_are_kept_and_the_head_is_not() {
        let text = format!("# tracer: nop\n#\n{}\n\n", events(0..100).join("\n"));
        for deadline in [12_000_064_000, 12_000_099_000, 13_000_000_000, u64::MAX] {
            assert_eq!(excerpt(&text, deadline), events(60..100), "{deadline}");
        }
        assert_eq!(excerpt(&"ä".repeat(TEXT_MAX), 0)[0].len(), TEXT_MAX);
        assert!(excerpt("# nothing\n", 0).is_empty());
        assert_eq!(excerpt(&events(0..3).join("\n"), 0), events(0..3));
    }

    #[test]
    fn what_ran_at_the_deadline_is_not_left_out() {
        let text = events(0..100).join("\n");
        let lines = excerpt(&text, 12_000_050_000);
        assert_eq!(lines.len(), TRACE_LINES_MAX);
        assert_eq!((&lines[..15], lines[15].as_str()), (&events(46..61)[..], "... 15 lines left out"));
        assert_eq!(lines[16..], events(76..100));
        let lines = excerpt(&text, 12_000_063_000);
        assert_eq!((&lines[..15], lines[15].as_str()), (&events(59..74)[..], "... 2 lines left out"));
        assert_eq!(lines[16..], events(76..100));
    }

    #[test]
    fn only_instances_of_ours_have_an_owner() {
        assert_eq!(owner("kiln-latency-17"), Some(PathBuf::from("/proc/17")));
        for name in ["kiln-latency-", "kiln-latency-x", "rasdaemon", "kiln-latency-../1"] {
            assert_eq!(owner(name), None, "{name}");
        }
    }

    #[test]
    fn a_trace_leaves_nothing_behind_or_says_why_there_is_none() {
        let directory = match Trace::start() {
            Ok(trace) => trace.directory.clone(),
            Err(why) => {
                assert!(why.starts_with("no trace: "), "{why}");
                Path::new(TRACEFS).join("instances").join(format!("{NAME}{}", std::process::id()))
            }
        };
        assert!(!directory.exists());
    }
}
