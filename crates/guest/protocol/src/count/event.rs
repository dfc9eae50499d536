//! What can be counted, and what it is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// Bytes of a name at most: the kernel's own are shorter.
const NAME_MAX: usize = 128;

/// What of the kernel or the CPU counts an event: perf_event_open(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// `PERF_TYPE_HARDWARE`: the CPU, where it has a unit for that.
    Hardware(u64),
    /// `PERF_TYPE_SOFTWARE`: the kernel.
    Software(u64),
    /// `PERF_TYPE_RAW`: the CPU, by the number that its manual has for the event.
    Raw(u64),
    /// `PERF_TYPE_TRACEPOINT`: the kernel, by a tracepoint.
    Tracepoint,
    /// The kernel, by a probe where a function begins, or where it returns.
    Kprobe {
        /// Where it returns.
        returns: bool,
    },
}

impl Counter {
    /// What counts `instructions`.
    pub const INSTRUCTIONS: Self = Self::Hardware(1);
}

/// An event, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Event {
    name: String,
    /// What counts it.
    counter: Counter,
}

/// Those that have names of their own: by which they are asked for, what they are called, and what counts them. The numbers are those of
/// `include/uapi/linux/perf_event.h`.
const NAMED: [(&[&str], Counter); 21] = [
    (&["cycles", "cpu-cycles"], Counter::Hardware(0)),
    (&["instructions"], Counter::INSTRUCTIONS),
    (&["cache-references"], Counter::Hardware(2)),
    (&["cache-misses"], Counter::Hardware(3)),
    (&["branches", "branch-instructions"], Counter::Hardware(4)),
    (&["branch-misses"], Counter::Hardware(5)),
    (&["bus-cycles"], Counter::Hardware(6)),
    (&["stalled-cycles-frontend"], Counter::Hardware(7)),
    (&["stalled-cycles-backend"], Counter::Hardware(8)),
    (&["ref-cycles"], Counter::Hardware(9)),
    (&["cpu-clock"], Counter::Software(0)),
    (&["task-clock"], Counter::Software(1)),
    (&["page-faults", "faults"], Counter::Software(2)),
    (&["context-switches", "ctx", "cs"], Counter::Software(3)),
    (&["cpu-migrations", "migrations"], Counter::Software(4)),
    (&["minor-faults"], Counter::Software(5)),
    (&["major-faults"], Counter::Software(6)),
    (&["alignment-faults"], Counter::Software(7)),
    (&["emulation-faults"], Counter::Software(8)),
    (&["bpf-output"], Counter::Software(10)),
    (&["cgroup-switches"], Counter::Software(11)),
];

/// Short names of tracepoints.
const ALIASES: [(&str, &str); 4] = [
    ("tlb-flushes", "tlb:tlb_flush"),
    ("syscalls", "raw_syscalls:sys_enter"),
    ("forks", "sched:sched_process_fork"),
    ("wakeups", "sched:sched_wakeup"),
];

/// What a probe of a function of the kernel begins with, and whether it is where the function returns.
const PROBES: [(&str, bool); 2] = [("kprobe:", false), ("kretprobe:", true)];

/// A text that names no event.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no event: name one such as page-faults, a tracepoint such as sched:sched_switch, a probe such as kprobe:vfs_read, or r with hexadecimal digits for one of the CPU"
)]
pub struct WrongEvent(pub String);

impl Event {
    /// All names that are no tracepoints, and the short ones of tracepoints.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(names, _)| names[0]).chain(ALIASES.iter().map(|(alias, _)| *alias))
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What counts it.
    #[must_use]
    pub fn counter(&self) -> Counter {
        self.counter
    }

    /// Of a tracepoint its system and its name: `sched` and `sched_switch`.
    #[must_use]
    pub fn tracepoint(&self) -> Option<(&str, &str)> {
        let name =
            ALIASES.iter().find(|(alias, _)| *alias == self.name).map_or(self.name(), |(_, name)| name);
        name.split_once(':').filter(|_| self.counter == Counter::Tracepoint)
    }

    /// Of a probe the function of the kernel: `vfs_read`.
    #[must_use]
    pub fn probed(&self) -> Option<&str> {
        PROBES.iter().find_map(|(prefix, _)| self.name.strip_prefix(prefix))
    }

    /// Whether it is a time, in nanoseconds.
    #[must_use]
    pub fn is_time(&self) -> bool {
        matches!(self.counter, Counter::Software(0 | 1))
    }
}

impl FromStr for Event {
    type Err = WrongEvent;

    fn from_str(text: &str) -> Result<Self, WrongEvent> {
        let wrong = || WrongEvent(text.chars().take(NAME_MAX).collect());
        if let Some((names, counter)) = NAMED.iter().find(|(names, _)| names.contains(&text)) {
            return Ok(Self { name: names[0].to_owned(), counter: *counter });
        }
        if ALIASES.iter().any(|(alias, _)| *alias == text) {
            return Ok(Self { name: text.to_owned(), counter: Counter::Tracepoint });
        }
        let raw =
            text.strip_prefix('r').filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(number) = raw.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            return Ok(Self { name: text.to_owned(), counter: Counter::Raw(number) });
        }
        if let Some((prefix, returns)) = PROBES.iter().find(|(prefix, _)| text.starts_with(prefix)) {
            // The compiler puts dots into the names of parts of functions: foo.isra.0.
            let is_function = |name: &str| {
                !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
            };
            let is_probe = is_function(&text[prefix.len()..]) && text.len() <= NAME_MAX;
            let counter = Counter::Kprobe { returns: *returns };
            return is_probe.then(|| Self { name: text.to_owned(), counter }).ok_or_else(wrong);
        }
        let is_word = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        };
        let (system, event) = text.split_once(':').ok_or_else(wrong)?;
        let is_tracepoint = is_word(system) && is_word(event) && text.len() <= NAME_MAX;
        is_tracepoint.then(|| Self { name: text.to_owned(), counter: Counter::Tracepoint }).ok_or_else(wrong)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(text: &str) -> Event {
        text.parse().expect("an event")
    }

    #[test]
    fn each_name_is_one_event() {
        for name in Event::names() {
            assert_eq!(event(name).name(), name);
        }
        assert_eq!(event("ctx"), event("context-switches"));
        assert_eq!(event("r1a8").counter(), Counter::Raw(0x1a8));
        assert_eq!(event("tlb-flushes").tracepoint(), Some(("tlb", "tlb_flush")));
        assert_eq!(event("sched:sched_switch").tracepoint(), Some(("sched", "sched_switch")));
        assert_eq!(event("page-faults").tracepoint(), None);
        assert_eq!(event("kprobe:foo.isra.0").probed(), Some("foo.isra.0"));
        assert_eq!(event("kretprobe:vfs_read").counter(), Counter::Kprobe { returns: true });
        assert_eq!((event("kprobe:vfs_read").tracepoint(), event("ctx").probed()), (None, None));
        assert!(event("task-clock").is_time() && !event("cycles").is_time());
    }

    #[test]
    fn other_words_are_none() {
        for text in [
            "",
            "r",
            "rxyz",
            "sched",
            "sched:",
            ":x",
            "a/b:c",
            "../x:y",
            "a:b:c",
            "r11111111111111111",
            "kprobe:",
            "kprobe:a b",
            "kretprobe:a/b",
        ] {
            assert!(text.parse::<Event>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_event_survives_its_text(text in "\\PC{0,20}|(k?ret|kprobe|[a-z]{1,5}):[a-z_.]{1,9}|r[0-9a-f]{1,16}") {
            if let Ok(event) = text.parse::<Event>() {
                let json = serde_json::to_string(&event).expect("plain data");
                prop_assert_eq!(serde_json::from_str::<Event>(&json).expect("its own"), event);
            }
        }
    }
}
