//! What the instrument is asked.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Counter, Event};
use crate::workload::Workload;

/// Events at most: as many as a person compares.
pub const EVENTS_MAX: usize = 32;

/// The shortest interval: reading takes some microseconds for each event.
pub const INTERVAL_MIN_MS: u64 = 10;

/// The longest interval: an hour.
pub const INTERVAL_MAX_MS: u64 = 3600 * 1000;

/// What is counted, and while what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct CountRequest {
    /// The events: 1 to [`EVENTS_MAX`], each once.
    pub events: Vec<Event>,
    /// Whose events.
    pub workload: Workload,
    /// What each part of the command had, too.
    pub per: Option<Part>,
    /// What there was in each interval, too: [`INTERVAL_MIN_MS`] to [`INTERVAL_MAX_MS`].
    pub interval_ms: Option<u64>,
    /// On a machine whose clock goes by instructions: how many nanoseconds each takes. `instructions` of the command are counted by it.
    pub instruction_ns: Option<NonZeroU32>,
}

/// What the counts of a command are split into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Processes, each with all its threads.
    Process,
    /// Threads.
    Thread,
}

/// A request that cannot be meant: what is wrong, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WrongRequest(String);

impl CountRequest {
    /// Checks that all numbers are in their ranges and go together.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongRequest> {
        let wrong = self.wrong_events().or_else(|| self.wrong_interval()).or_else(|| self.wrong_parts());
        let wrong = wrong.or_else(|| self.workload.wrong());
        wrong.map_or(Ok(()), |why| Err(WrongRequest(why)))
    }

    /// What the CPU need not count, since it is the time that the command runs: the nanoseconds of one.
    #[must_use]
    pub fn by_clock(&self, event: &Event) -> Option<NonZeroU32> {
        self.instruction_ns
            .filter(|_| self.workload.may_go_by_clock() && event.counter() == Counter::INSTRUCTIONS)
    }

    fn wrong_events(&self) -> Option<String> {
        let twice = self.events.iter().enumerate().find(|(at, event)| self.events[..*at].contains(event));
        match (self.events.len(), twice) {
            (0, _) => Some("no event is named".to_owned()),
            (EVENTS_MAX.., _) if self.events.len() > EVENTS_MAX => {
                Some(format!("{} events: count at most {EVENTS_MAX}", self.events.len()))
            }
            (_, Some((_, event))) => Some(format!("{event} is named twice")),
            _ => None,
        }
    }

    fn wrong_interval(&self) -> Option<String> {
        let every = self.interval_ms?;
        let is_wrong = !(INTERVAL_MIN_MS..=INTERVAL_MAX_MS).contains(&every);
        is_wrong.then(|| format!("an interval of {every} ms: it is 10 ms to an hour"))
    }

    fn wrong_parts(&self) -> Option<String> {
        let Workload { command, everywhere, .. } = &self.workload;
        match (self.per?, command.is_empty(), everywhere) {
            (_, true, _) => Some("counts are split of a program only, from its start on: name it".to_owned()),
            (_, _, true) => Some("counts are split of a program only, not everywhere".to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: impl FnOnce(&mut CountRequest)) -> Result<(), String> {
        let mut request = CountRequest {
            events: vec!["page-faults".parse().expect("an event")],
            workload: Workload { command: vec!["true".to_owned()], ..Workload::default() },
            ..CountRequest::default()
        };
        change(&mut request);
        request.validate().map_err(|error| error.to_string())
    }

    #[test]
    fn instructions_are_counted_by_the_clock_of_a_command() {
        let [instructions, cycles] = ["instructions", "cycles"].map(|name| name.parse().expect("an event"));
        let mut request = CountRequest {
            instruction_ns: NonZeroU32::new(8),
            workload: Workload { command: vec!["true".to_owned()], ..Workload::default() },
            ..CountRequest::default()
        };
        assert_eq!(request.by_clock(&instructions), NonZeroU32::new(8));
        assert_eq!(request.by_clock(&cycles), None);
        request.workload.everywhere = true;
        assert_eq!(request.by_clock(&instructions), None);
        let json = r#"{"events": [], "instruction-ns": 0}"#;
        assert!(serde_json::from_str::<CountRequest>(json).is_err(), "no instruction takes no time");
    }

    #[test]
    fn only_what_can_be_meant_is_taken() {
        assert_eq!(request(|_| {}), Ok(()));
        let refused = |change: &dyn Fn(&mut CountRequest)| request(change).expect_err("it is wrong");
        assert_eq!(refused(&|it| it.events.clear()), "no event is named");
        assert_eq!(
            refused(&|it| it.events.push("faults".parse().expect("an event"))),
            "page-faults is named twice"
        );
        assert!(refused(&|it| it.interval_ms = Some(9)).contains("10 ms"));
        assert!(refused(&|it| it.workload.duration_ms = Some(0)).contains("a day"));
        let everywhere =
            |it: &mut CountRequest| (it.per, it.workload.everywhere) = (Some(Part::Thread), true);
        assert!(refused(&everywhere).contains("not everywhere"));
        let nothing = |it: &mut CountRequest| {
            it.per = Some(Part::Process);
            it.workload.command.clear();
        };
        assert!(refused(&nothing).contains("name it"));
    }
}
