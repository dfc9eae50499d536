//! What was counted.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CountRequest, Event};

/// Processes or threads at most: of more, those with the smallest counts are left out.
pub const TASKS_MAX: usize = 4096;

/// Intervals at most; later ones are added to the last.
pub const INTERVALS_MAX: usize = 65_536;

/// Bytes of a text at most.
const TEXT_MAX: usize = 512;

/// What was counted so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CountReport {
    /// What was asked.
    pub request: CountRequest,
    /// How long it was counted, in nanoseconds.
    pub elapsed_ns: u64,
    /// The exit status of the command; none while it runs, without one, and if a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended the command.
    pub signal: Option<u8>,
    /// What there was of each event that can be counted here.
    pub counted: Vec<Counted>,
    /// The other events that were asked for.
    pub missing: Vec<Missing>,
    /// What each process or thread had, in the order of `counted`.
    pub tasks: Vec<Task>,
    /// Processes or threads that are left out.
    pub tasks_omitted: u64,
    /// Records of processes that the kernel had no room for: their counts are in the sums only.
    pub lost: u64,
    /// What there was in each interval, in the order of `counted`.
    pub intervals: Vec<Interval>,
}

/// How often an event happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Counted {
    /// The event.
    pub event: Event,
    /// How often while it was counted; nanoseconds of a clock.
    pub value: u64,
    /// How long it should have been counted, in nanoseconds of all threads or CPUs.
    pub enabled_ns: u64,
    /// How long it was: less where more events were asked for than the CPU can count at a time.
    pub running_ns: u64,
    /// If that is less: half of the interval that has the whole count in 95 of 100 cases, where that can be told.
    pub error: Option<f64>,
}

/// An event that cannot be counted here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The event.
    pub event: Event,
    /// Why, in a line.
    pub why: String,
}

/// What a process or a thread had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The number of the process; 0 where that is not known.
    pub pid: u32,
    /// The number of the thread; none of a process with all its threads.
    pub tid: Option<u32>,
    /// The process that made this one; 0 where that is not known, and of threads but the first of their process.
    pub parent: u32,
    /// The name of its last program, or that of the thread.
    pub name: String,
    /// What it had of each event.
    pub counts: Vec<u64>,
}

/// What there was in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Interval {
    /// Its end, in nanoseconds since the beginning.
    pub end_ns: u64,
    /// What there was of each event.
    pub counts: Vec<u64>,
}

/// No instrument has reported this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the instrument has sent a report that cannot be: {0}")]
pub struct WrongReport(&'static str);

impl Counted {
    /// How often it happened in all, as far as that can be told: the part in which it was not counted is taken to be like the rest.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn estimate(&self) -> Option<f64> {
        let Self { value, enabled_ns, running_ns, .. } = self;
        match running_ns {
            0 if *enabled_ns > 0 => None,
            _ if !self.is_estimated() => Some(*value as f64),
            running => Some(*value as f64 * *enabled_ns as f64 / *running as f64),
        }
    }

    /// Whether it was counted for a part of the time only.
    #[must_use]
    pub fn is_estimated(&self) -> bool {
        self.running_ns < self.enabled_ns
    }
}

impl CountReport {
    /// Whether an instrument can have reported this.
    ///
    /// # Errors
    ///
    /// What cannot be.
    pub fn validate(&self) -> Result<(), WrongReport> {
        let events = self.counted.len();
        let is_long = |text: &String| text.len() > TEXT_MAX;
        let wrong = [
            (self.request.validate().is_err(), "its request"),
            (events + self.missing.len() > self.request.events.len(), "more events than were asked for"),
            (self.tasks.len() > TASKS_MAX, "so many tasks"),
            (self.intervals.len() > INTERVALS_MAX, "so many intervals"),
            (self.tasks.iter().any(|one| one.counts.len() != events), "a task without some counts"),
            (self.intervals.iter().any(|one| one.counts.len() != events), "an interval without some counts"),
            (self.tasks.iter().any(|one| is_long(&one.name)), "the name of a task"),
            (self.missing.iter().any(|one| is_long(&one.why)), "why an event is missing"),
            (
                self.counted
                    .iter()
                    .any(|one| one.error.is_some_and(|error| !error.is_finite() || error < 0.0)),
                "an error",
            ),
        ];
        wrong.iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, what)| Err(WrongReport(what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;

    fn report() -> CountReport {
        let event: Event = "page-faults".parse().expect("an event");
        CountReport {
            request: CountRequest {
                events: vec![event.clone()],
                workload: Workload { command: vec!["true".to_owned()], ..Workload::default() },
                ..CountRequest::default()
            },
            elapsed_ns: 5,
            status: Some(0),
            signal: None,
            counted: vec![Counted { event, value: 30, enabled_ns: 90, running_ns: 90, error: None }],
            missing: Vec::new(),
            tasks: vec![Task { pid: 7, tid: None, parent: 1, name: "true".to_owned(), counts: vec![30] }],
            tasks_omitted: 0,
            lost: 0,
            intervals: Vec::new(),
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(report().validate(), Ok(()));
        let refused = |change: &dyn Fn(&mut CountReport)| {
            let mut wrong = report();
            change(&mut wrong);
            wrong.validate().expect_err("it cannot be").to_string()
        };
        assert!(refused(&|it| it.tasks[0].counts.clear()).ends_with("without some counts"));
        assert!(refused(&|it| it.counted.push(it.counted[0].clone())).ends_with("asked for"));
        assert!(refused(&|it| it.tasks[0].name = "x".repeat(600)).ends_with("name of a task"));
        assert!(refused(&|it| it.counted[0].error = Some(f64::NAN)).ends_with("an error"));
        assert!(refused(&|it| it.request.events.clear()).ends_with("its request"));
    }

    #[test]
    fn what_was_counted_for_a_part_of_the_time_is_an_estimate() {
        let mut one = report().counted.swap_remove(0);
        assert_eq!((one.estimate(), one.is_estimated()), (Some(30.0), false));
        one.running_ns = 30;
        assert_eq!((one.estimate(), one.is_estimated()), (Some(90.0), true));
        one.running_ns = 0;
        assert_eq!(one.estimate(), None);
    }
}
