//! What the instrument is asked.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Event;

/// Events at most: as many as a person compares.
pub const EVENTS_MAX: usize = 32;

/// The shortest interval: reading takes some microseconds for each event.
pub const INTERVAL_MIN_MS: u64 = 10;

/// The longest interval: an hour.
pub const INTERVAL_MAX_MS: u64 = 3600 * 1000;

/// The longest time: a day.
pub const DURATION_MAX_MS: u64 = 24 * 3600 * 1000;

/// Words of a command, and bytes of each.
const WORDS_MAX: usize = 256;
const WORD_MAX: usize = 4096;

/// What is counted, and while what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct CountRequest {
    /// The events: 1 to [`EVENTS_MAX`], each once.
    pub events: Vec<Event>,
    /// The program and its arguments, whose processes are counted; all of this machine without one.
    pub command: Vec<String>,
    /// Of all processes of this machine, also if there is a command: it says how long.
    pub everywhere: bool,
    /// After this time the command is ended; without a command it must be there: up to [`DURATION_MAX_MS`].
    pub duration_ms: Option<u64>,
    /// What each process of the command had, too.
    pub per_process: bool,
    /// What there was in each interval, too: [`INTERVAL_MIN_MS`] to [`INTERVAL_MAX_MS`].
    pub interval_ms: Option<u64>,
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
        let wrong = self.wrong_events().or_else(|| self.wrong_time()).or_else(|| self.wrong_command());
        wrong.map_or(Ok(()), |why| Err(WrongRequest(why)))
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

    fn wrong_time(&self) -> Option<String> {
        let interval = INTERVAL_MIN_MS..=INTERVAL_MAX_MS;
        match (self.duration_ms, self.interval_ms) {
            (Some(0) | Some(DURATION_MAX_MS..), _) if self.duration_ms != Some(DURATION_MAX_MS) => {
                Some("a duration is more than nothing and at most a day".to_owned())
            }
            (_, Some(every)) if !interval.contains(&every) => {
                Some(format!("an interval of {every} ms: it is 10 ms to an hour"))
            }
            _ => None,
        }
    }

    fn wrong_command(&self) -> Option<String> {
        let is_long = |word: &String| word.len() > WORD_MAX || word.contains('\0');
        match self.command.len() {
            0 if self.per_process => Some("processes are told apart of a program only: name it".to_owned()),
            0 if self.duration_ms.is_none() => Some("name a program, or a duration".to_owned()),
            _ if self.per_process && self.everywhere => {
                Some("processes are told apart of a program only, not everywhere".to_owned())
            }
            0..=WORDS_MAX if self.command.iter().any(is_long) => {
                Some(format!("a word of the command has more than {WORD_MAX} bytes"))
            }
            0..=WORDS_MAX => None,
            words => Some(format!("{words} words of a command: at most {WORDS_MAX}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: impl FnOnce(&mut CountRequest)) -> Result<(), String> {
        let mut request = CountRequest {
            events: vec!["page-faults".parse().expect("an event")],
            command: vec!["true".to_owned()],
            ..CountRequest::default()
        };
        change(&mut request);
        request.validate().map_err(|error| error.to_string())
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
        assert!(refused(&|it| it.duration_ms = Some(0)).contains("a day"));
        assert!(refused(&|it| it.command.clear()).contains("a duration"));
        assert!(refused(&|it| it.command = vec!["x".repeat(5000)]).contains("bytes"));
        assert!(refused(&|it| it.command = vec![String::new(); 300]).contains("300 words"));
        let everywhere = |it: &mut CountRequest| (it.per_process, it.everywhere) = (true, true);
        assert!(refused(&everywhere).contains("not everywhere"));
        assert_eq!(request(|it| it.duration_ms = Some(DURATION_MAX_MS)), Ok(()));
        let timed = |it: &mut CountRequest| {
            it.command.clear();
            it.duration_ms = Some(5);
        };
        assert_eq!(request(timed), Ok(()));
    }
}
