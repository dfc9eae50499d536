//! What the kernel's tracepoints saw on the CPU of the victim.

use serde::{Deserialize, Serialize};

use super::thread_time::ThreadTime;

/// Causes of one kind at most: the ones that took the most time.
pub const CAUSES_MAX: usize = 16;

/// A second pass, with tracing: its times are never mixed with those of the first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Trace {
    /// From the first to the last event.
    pub traced_ns: u64,
    /// How long the victim was the current task of its CPU.
    pub victim_ns: u64,
    /// How long it could have run and another thread did.
    pub waited_ns: u64,
    /// Interrupts by their device, and those of x86 that have a vector of their own: `local_timer`.
    pub interrupts: Vec<Cause>,
    /// Softirqs by their vector: `NET_RX`.
    pub softirqs: Vec<Cause>,
    /// Other threads, as the scheduler switched to them.
    pub threads: Vec<ThreadTime>,
    /// What `net_rx_action` polled.
    pub polls: Polls,
    /// Events that did not fit into the buffer: the trace ends with the first of them.
    pub dropped: u64,
    /// Lines that are no event, or whose beginning or end is missing.
    pub unread: u64,
}

/// What took time from whatever was running.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cause {
    /// Its name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// How long, without what interrupted it.
    pub ns: u64,
    /// How much of that while the victim was the current task, so that the victim may be charged for it.
    pub charged_ns: u64,
}

/// Polls of NAPI instances: Documentation/networking/napi.rst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Polls {
    /// How many.
    pub count: u64,
    /// Packets in all of them.
    pub packets: u64,
    /// Polls that used their whole budget.
    pub full: u64,
}

impl Trace {
    /// What interrupts and softirqs took while the victim was the current task.
    #[must_use]
    pub fn charged_ns(&self) -> u64 {
        let causes = self.interrupts.iter().chain(&self.softirqs);
        causes.map(|cause| cause.charged_ns).fold(0, u64::saturating_add)
    }

    /// The share of the time in which the victim could run that it did not get; nothing if it never could.
    #[must_use]
    pub fn stolen(&self) -> Option<f64> {
        let wanted = self.victim_ns.saturating_add(self.waited_ns);
        let stolen = self.charged_ns().saturating_add(self.waited_ns);
        (wanted > 0).then(|| stolen.min(wanted) as f64 / wanted as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stolen_is_charged_or_waited_for() {
        let cause = |charged_ns| Cause { charged_ns, ns: 1000, ..Cause::default() };
        let mut trace = Trace {
            victim_ns: 600,
            waited_ns: 200,
            interrupts: vec![cause(10)],
            softirqs: vec![cause(100), cause(90)],
            ..Trace::default()
        };
        assert_eq!((trace.charged_ns(), trace.stolen()), (200, Some(0.5)));
        trace.softirqs[0].charged_ns = u64::MAX;
        assert_eq!(trace.stolen(), Some(1.0));
        assert_eq!(Trace::default().stolen(), None);
    }
}
