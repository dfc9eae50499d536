//! Which events are of interest.
//!
//! A filter compares fields: `name == sched_switch && (cpu == 1 || comm ~ "kworker/*") && !(prev_prio < 100)`. Besides the fields of an
//! event there are `name`, with or without the system, `comm` and `tid` of its thread, `cpu`, and `time`, since the begin of
//! the trace. What an event does not have is neither equal nor different.

use std::cmp::Ordering;

use ctf::Value;
use lab::suites::select::Pattern;

use crate::seen::Seen;

/// A condition for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(pub(crate) Node);

/// A part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Any(Vec<Self>),
    All(Vec<Self>),
    Not(Box<Self>),
    Compare { field: String, how: How, with: Literal },
}

/// How a field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    Unlike,
}

/// What it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    /// A number; times are in nanoseconds.
    Number(i128),
    Text(String),
    /// For [`How::Like`] and [`How::Unlike`].
    Pattern(Pattern),
}

impl Filter {
    /// Whether it holds for an event.
    #[must_use]
    pub fn holds(&self, seen: &Seen<'_>) -> bool {
        holds(&self.0, seen)
    }
}

fn holds(node: &Node, seen: &Seen<'_>) -> bool {
    match node {
        Node::Any(parts) => parts.iter().any(|part| holds(part, seen)),
        Node::All(parts) => parts.iter().all(|part| holds(part, seen)),
        Node::Not(part) => !holds(part, seen),
        Node::Compare { field, how, with } => compare(seen, field, *how, with),
    }
}

fn compare(seen: &Seen<'_>, field: &str, how: How, with: &Literal) -> bool {
    let event = &seen.event;
    let number = |value: i128| numbers(value, how, with);
    match field {
        "name" => {
            let whole = event.class.name.as_str();
            let names = [whole, whole.split_once(':').map_or(whole, |(_, name)| name)];
            // No name may be one that is not wanted.
            match how {
                How::Different | How::Unlike => names.iter().all(|name| texts(name, how, with)),
                _ => names.iter().any(|name| texts(name, how, with)),
            }
        }
        "comm" if event.field(field).is_none() => seen.comm.is_some_and(|comm| texts(comm, how, with)),
        "tid" if event.field(field).is_none() => event.thread.is_some_and(|thread| number(thread.into())),
        "cpu" => number(event.cpu.into()),
        "time" => number(seen.since_begin().into()),
        _ => match event.field(field) {
            Some(Value::Number(value, _)) => number(value),
            Some(value @ Value::Text(_)) => value.text().is_some_and(|text| texts(&text, how, with)),
            Some(Value::Numbers(..)) | None => false,
        },
    }
}

fn numbers(value: i128, how: How, with: &Literal) -> bool {
    match with {
        Literal::Number(number) => ordered(value.cmp(number), how),
        Literal::Text(_) | Literal::Pattern(_) => false,
    }
}

fn texts(value: &str, how: How, with: &Literal) -> bool {
    match with {
        Literal::Text(text) => ordered(value.cmp(text), how),
        Literal::Pattern(pattern) => pattern.matches(value) == (how == How::Like),
        Literal::Number(_) => false,
    }
}

fn ordered(ordering: Ordering, how: How) -> bool {
    match how {
        How::Equal => ordering.is_eq(),
        How::Different => ordering.is_ne(),
        How::Less => ordering.is_lt(),
        How::LessOrEqual => ordering.is_le(),
        How::Greater => ordering.is_gt(),
        How::GreaterOrEqual => ordering.is_ge(),
        How::Like | How::Unlike => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::tests::{Sample, with};

    fn holds(filter: &str, sample: &Sample) -> bool {
        let filter: Filter = filter.parse().expect(filter);
        with(sample, |seen| filter.holds(seen))
    }

    #[test]
    fn an_event_is_found_by_what_it_is_and_has() {
        let sample = Sample { value: -3, comm: "kworker/0:1", time: 1_500_000 };
        for filter in [
            "name == number",
            "name == \"test:number\"",
            "name ~ test:*",
            "comm ~ \"kworker/*\" && tid == 7",
            "value < 0 && value >= -3",
            "time >= 1.5ms && time < 2ms",
            "!(cpu != 2) && (value == 5 || value == -3)",
            "name != other",
            "value == 0x5 || comm != cat",
        ] {
            assert!(holds(filter, &sample), "{filter}");
        }
        for filter in ["name !~ \"num*\"", "value > -3", "cpu == 3", "comm == cat", "name == test"] {
            assert!(!holds(filter, &sample), "{filter}");
        }
    }

    #[test]
    fn what_an_event_has_not_is_neither_equal_nor_different() {
        let sample = Sample { value: 0, comm: "cat", time: 0 };
        for filter in ["nothing == 1", "nothing != 1", "nothing ~ x", "value == x", "value != x", "comm < 3"]
        {
            assert!(!holds(filter, &sample), "{filter}");
        }
    }
}
