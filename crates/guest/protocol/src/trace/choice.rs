//! Which events are recorded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest filter, in bytes: the kernel takes a page.
const FILTER_MAX: usize = 4000;

/// What stands between an event and its filter.
const IF: &str = " if ";

/// Some events: `sched`, `sched:sched_switch`, or `sched:sched_switch if prev_prio < 100`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Choice {
    /// The system.
    pub system: String,
    /// The event, or all of the system.
    pub event: Option<String>,
    /// A condition as Documentation/trace/events.rst has it.
    pub filter: Option<String>,
}

/// A text that names no events.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} names no events: use SYSTEM, SYSTEM:EVENT or SYSTEM:EVENT if FILTER, such as sched:sched_switch"
)]
pub struct WrongChoice(String);

impl Choice {
    /// Whether it is a single event.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.event.is_some()
    }

    /// Whether all events of another choice are among its own, whatever their fields are.
    #[must_use]
    pub fn has(&self, other: &Self) -> bool {
        self.filter.is_none()
            && self.system == other.system
            && (self.event.is_none() || self.event == other.event)
    }
}

impl FromStr for Choice {
    type Err = WrongChoice;

    fn from_str(text: &str) -> Result<Self, WrongChoice> {
        let wrong = || WrongChoice(text.to_owned());
        let (events, filter) = match text.split_once(IF) {
            Some((events, filter)) => (events.trim(), Some(filter.trim())),
            None => (text.trim(), None),
        };
        let (system, event) = match events.split_once([':', '/']) {
            Some((system, event)) => (system, Some(event)),
            None => (events, None),
        };
        let is_filter =
            |filter: &str| !filter.is_empty() && filter.len() <= FILTER_MAX && !filter.contains('\n');
        if is_name(system) && event.is_none_or(is_name) && filter.is_none_or(is_filter) {
            let (system, event, filter) =
                (system.to_owned(), event.map(str::to_owned), filter.map(str::to_owned));
            Ok(Self { system, event, filter })
        } else {
            Err(wrong())
        }
    }
}

/// Whether a name is one that the kernel's macros give.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('.')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.system)?;
        self.event.as_ref().map_or(Ok(()), |event| write!(f, ":{event}"))?;
        self.filter.as_ref().map_or(Ok(()), |filter| write!(f, "{IF}{filter}"))
    }
}

impl TryFrom<String> for Choice {
    type Error = WrongChoice;

    fn try_from(text: String) -> Result<Self, WrongChoice> {
        text.parse()
    }
}

impl From<Choice> for String {
    fn from(choice: Choice) -> Self {
        choice.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_events_and_filters_come_back() {
        for text in ["sched", "sched:sched_switch", "irq:irq_handler_entry if irq == 3 && name ~ \"eth*\""] {
            assert_eq!(text.parse::<Choice>().expect(text).to_string(), text);
        }
        let by_path: Choice = " sched/sched_switch if  prev_pid == 0 ".parse().expect("as tracefs has it");
        assert_eq!(by_path.to_string(), "sched:sched_switch if prev_pid == 0");
    }

    #[test]
    fn a_system_has_its_events() {
        let choice = |text: &str| text.parse::<Choice>().expect(text);
        let exit = choice("sched:sched_process_exit if pid == 7");
        assert_eq!([choice("sched"), exit.clone()].map(|it| it.is_single()), [false, true]);
        for (text, has) in [("sched", true), ("sched:sched_process_exit", true), ("irq", false)] {
            assert_eq!(choice(text).has(&exit), has, "{text}");
        }
        assert!(!exit.has(&exit) && !choice("sched if pid == 7").has(&exit));
    }

    #[test]
    fn what_could_leave_tracefs_names_no_events() {
        for text in ["", "..", "a:..", "../x", "a b", "a:b:c", "a:b if ", "a if x\ny", "sched:", ":x"] {
            let error = text.parse::<Choice>().expect_err(text).to_string();
            assert!(error.contains("names no events"), "{error}");
        }
    }
}
