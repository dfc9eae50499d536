//! Which interrupts, softirqs and threads took the time: a trace of the victim's CPU.
//!
//! The ring buffer keeps the first events and is read when the pass is over, so that nothing but the tracepoints themselves
//! disturbs it.
//!
//! * [`event`]: a line of the trace; [`attribution`]: whose the time between two of them is

mod attribution;
mod event;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};

use harness::tracefs::{Instance, failed};
use protocol::steal::Trace;

use attribution::Attribution;
use event::Line;

/// What an instance is called, with the process's number behind it.
const NAME: &str = "kiln-steal-";

/// The ring buffer of the CPU, in KiB: more than a hundred thousand events.
const BUFFER_KIB: &str = "4096";

/// The least for all other CPUs.
const OTHERS_KIB: &str = "4";

/// Bytes of a trace as text at most, and of a line that is looked at.
const READ_MAX: u64 = 1 << 28;
const LINE_MAX: usize = 4096;

/// Without these there is nothing to show.
const EVENTS: [&str; 6] = [
    "sched/sched_switch",
    "sched/sched_process_fork",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
];

/// Only kernels with a network have it.
const POLL: &str = "napi/napi_poll";

/// Interrupts of x86 that have a vector of their own, where the kernel has it.
const VECTORS: &str = "irq_vectors";

/// A trace that goes on.
#[derive(Debug)]
pub(crate) struct Tracing {
    instance: Instance,
    cpu: u32,
}

impl Tracing {
    /// Begins to trace a CPU. This process must have one thread.
    ///
    /// # Errors
    ///
    /// Why not, in one line.
    pub(crate) fn start(cpu: u32) -> Result<Self, String> {
        let instance = Instance::new(NAME)?;
        instance.write("buffer_size_kb", OTHERS_KIB)?;
        instance.write(&format!("per_cpu/cpu{cpu}/buffer_size_kb"), BUFFER_KIB)?;
        instance.write("options/overwrite", "0")?;
        instance.write("trace_clock", "x86-tsc")?;
        for event in EVENTS {
            instance.enable(event)?;
        }
        let _ = instance.enable(POLL);
        for event in vectors(&instance) {
            let _ = instance.enable(&event);
        }
        instance.write("tracing_on", "1")?;
        Ok(Self { instance, cpu })
    }

    /// Ends it, and says where the time went: with these victims, and a tick of so many nanoseconds.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in one line.
    pub(crate) fn conclude(self, victim: u32, tick_ns: f64) -> Result<Trace, String> {
        self.instance.write("tracing_on", "0")?;
        let file = format!("per_cpu/cpu{}/trace", self.cpu);
        let text = File::open(self.instance.path(&file)).map_err(|error| failed(&file, &error))?;
        let mut attribution = Attribution::new(BTreeSet::from([victim]));
        read(text, &mut attribution);
        Ok(attribution.trace(tick_ns, self.dropped()))
    }

    /// Events that did not fit into the buffer.
    fn dropped(&self) -> u64 {
        let stats = fs::read_to_string(self.instance.path(&format!("per_cpu/cpu{}/stats", self.cpu)));
        let stats = stats.unwrap_or_default();
        let dropped = stats.lines().find_map(|line| line.strip_prefix("dropped events:"));
        dropped.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }
}

/// Events at the beginning and the end of an interrupt with a vector of its own.
fn vectors(instance: &Instance) -> Vec<String> {
    let entries = fs::read_dir(instance.path(&format!("events/{VECTORS}"))).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter(|name| name.ends_with("_entry") || name.ends_with("_exit"));
    names.map(|name| format!("{VECTORS}/{name}")).collect()
}

fn read(text: impl Read, attribution: &mut Attribution) {
    let mut text = BufReader::new(text.take(READ_MAX));
    let mut line = Vec::new();
    // What cannot be read ends the trace early, which its time shows.
    while text.read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
        if line.len() <= LINE_MAX && !line.starts_with(b"#") {
            match Line::parse(line.trim_ascii_end()) {
                Some(line) => attribution.add(&line),
                None => attribution.unread(),
            }
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_of_this_machine_is_read_or_says_why_there_is_none() {
        match Tracing::start(0).and_then(|tracing| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            tracing.conclude(0, 1.0)
        }) {
            Ok(trace) => assert!(trace.traced_ns > 0 && trace.unread < 10, "{trace:?}"),
            Err(why) => assert!(why.starts_with("no trace: "), "{why}"),
        }
    }

    #[test]
    fn heads_and_long_lines_are_no_events() {
        let mut attribution = Attribution::new(BTreeSet::new());
        let text = format!("# tracer: nop\n#\n{}\nCPU:1 [LOST 3 EVENTS]\n", "x".repeat(LINE_MAX + 1));
        read(text.as_bytes(), &mut attribution);
        assert_eq!(attribution.trace(1.0, 0), Trace { unread: 1, ..Trace::default() });
    }
}
