//! What ran at the first late wake-up: a trace of the kernel.
//!
//! The trace has a small ring buffer that is overwritten until somebody stops it: Documentation/trace/ftrace.rst.

use std::fs::File;
use std::io::{Read, Write};

use harness::tracefs::{Instance, failed};
use protocol::latency::{TEXT_MAX, TRACE_LINES_MAX};
use protocol::results::cut;

/// What an instance is called, with the process's number behind it.
const NAME: &str = "kiln-latency-";

/// The file that starts and stops it.
const SWITCH: &str = "tracing_on";

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

/// An instance that traces.
#[derive(Debug)]
pub(crate) struct Trace {
    /// Closed before the instance is removed, which would be busy.
    switch: File,
    instance: Instance,
}

impl Trace {
    /// Begins to trace. This process must have one thread.
    ///
    /// # Errors
    ///
    /// Why not, in one line.
    pub(crate) fn start() -> Result<Self, String> {
        let instance = Instance::new(NAME)?;
        instance.write("buffer_size_kb", BUFFER_KIB)?;
        // Times that can be compared with deadlines.
        instance.write("trace_clock", "mono")?;
        for event in EVENTS {
            instance.enable(event)?;
        }
        for event in MORE_EVENTS {
            let _ = instance.enable(event);
        }
        let switch = File::options().write(true).open(instance.path(SWITCH));
        let switch = switch.map_err(|error| failed(SWITCH, &error))?;
        instance.write(SWITCH, "1")?;
        Ok(Self { switch, instance })
    }

    /// Stops it, so that nothing that was seen is overwritten. It takes one system call.
    pub(crate) fn stop(&self) {
        // A trace that goes on shows too much, not too little.
        let _ = (&self.switch).write_all(b"0");
    }

    /// What ran on a CPU from a deadline on, as CLOCK_MONOTONIC gives it.
    pub(crate) fn since(&self, deadline_ns: u64, cpu: u32) -> Vec<String> {
        let file = format!("per_cpu/cpu{cpu}/trace");
        let mut text = Vec::new();
        match File::open(self.instance.path(&file))
            .and_then(|file| file.take(READ_MAX).read_to_end(&mut text))
        {
            Ok(_) => excerpt(&String::from_utf8_lossy(&text), deadline_ns),
            Err(error) => vec![failed(&file, &error)],
        }
    }
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
    fn a_trace_starts_or_says_why_there_is_none() {
        match Trace::start() {
            Ok(trace) => assert!(trace.instance.has(SWITCH)),
            Err(why) => assert!(why.starts_with("no trace: "), "{why}"),
        }
    }
}
