//! From a request to a job file.

use std::fmt::Write;

use protocol::stress::request::GRACE_MS;
use protocol::stress::{Extreme, Mode, Scheduler, StressRequest};

use super::{OPERATIONS, units};

/// A job file that [`parse`](super::parse) reads back as `request`.
#[must_use]
pub fn write(request: &StressRequest) -> String {
    let mut lines = Lines::default();
    lines.add("run", if request.mode == Mode::Sequential { "sequential" } else { "parallel" });
    if let Some(timeout) = request.timeout_ms {
        lines.add("timeout", units::time(timeout));
    }
    if request.grace_ms != GRACE_MS {
        lines.add("grace", units::time(request.grace_ms));
    }
    lines.flag("verify", request.verify);
    lines.flag("maximize", request.extreme == Some(Extreme::Maximize));
    lines.flag("minimize", request.extreme == Some(Extreme::Minimize));
    if !request.cpus.is_empty() {
        lines.add("taskset", units::list(&request.cpus));
    }
    if let Some(scheduler) = request.scheduler {
        lines.scheduler(scheduler);
    }
    if let Some(nice) = request.nice {
        lines.add("nice-value", nice);
    }
    lines.flag("thermal", request.thermal);
    lines.flag("coverage", request.coverage);
    if request.seed != 0 {
        lines.add("seed", request.seed);
    }
    for instance in &request.instances {
        let name = &instance.stressor;
        lines.add(name, instance.workers);
        for (option, value) in &instance.options {
            lines.add(&format!("{name}-{option}"), value);
        }
        if let Some(operations) = instance.operations {
            lines.add(&format!("{name}-{OPERATIONS}"), operations);
        }
    }
    lines.0
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        // Writing to a text does not fail.
        let _ = writeln!(self.0, "{}", format!("{name} {value}").trim_end());
    }

    fn flag(&mut self, name: &str, is_on: bool) {
        if is_on {
            self.add(name, "");
        }
    }

    fn scheduler(&mut self, scheduler: Scheduler) {
        let (policy, priority) = match scheduler {
            Scheduler::Other => ("other", None),
            Scheduler::Batch => ("batch", None),
            Scheduler::Idle => ("idle", None),
            Scheduler::Fifo(priority) => ("fifo", Some(priority)),
            Scheduler::Rr(priority) => ("rr", Some(priority)),
            Scheduler::Deadline { .. } => ("deadline", None),
        };
        self.add("sched", policy);
        if let Some(priority) = priority {
            self.add("sched-prio", priority);
        }
        if let Scheduler::Deadline { runtime_ns, deadline_ns, period_ns } = scheduler {
            self.add("sched-runtime", runtime_ns);
            self.add("sched-deadline", deadline_ns);
            self.add("sched-period", period_ns);
        }
    }
}
