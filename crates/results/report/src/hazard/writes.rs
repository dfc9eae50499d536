//! Writes to what is watched.

use introspect::Task;
use machine::hazards::Write;
use serde::Serialize;

use super::{functions, indented};
use crate::safe::safe_line;
use crate::words::counted;

/// A write to data of the kernel that is watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Written {
    /// The case, or the program.
    pub case: String,
    /// What was seen when the machine was stopped.
    #[serde(flatten)]
    pub write: Write,
}

/// Writes to the same data with the same calls.
pub(super) struct Writes<'a> {
    first: &'a Written,
    last: &'a Written,
    times: usize,
}

/// The most frequent first.
pub(super) fn groups(all: &[Written]) -> Vec<Writes<'_>> {
    let mut groups: Vec<Writes<'_>> = Vec::new();
    for written in all {
        match groups.iter_mut().find(|group| is_alike(group.first, written)) {
            Some(group) => {
                group.times += 1;
                group.last = written;
            }
            None => groups.push(Writes { first: written, last: written, times: 1 }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.times));
    groups
}

fn is_alike(one: &Written, other: &Written) -> bool {
    (&one.case, &one.write.variable) == (&other.case, &other.write.variable)
        && functions(&one.write.calls) == functions(&other.write.calls)
}

/// Said where a machine was stopped as often as it may be.
pub(super) fn end(all: &[Written]) -> String {
    let ended = all.iter().filter(|written| written.write.is_last);
    let line = |written: &Written| {
        let Written { case, write } = written;
        format!(
            "\nfurther writes to {} in {} were not looked at\n",
            safe_line(&write.variable),
            safe_line(case)
        )
    };
    ended.map(line).collect()
}

impl Writes<'_> {
    pub(super) fn text(&self, number: usize) -> String {
        let Written { case, write } = self.first;
        let head = format!(
            "{number}. {} in {}: {}, the last from {} to {}\n",
            safe_line(&write.variable),
            safe_line(case),
            counted(self.times, "write"),
            value(self.last.write.before),
            value(self.last.write.after)
        );
        let who = write.task.as_ref().map_or_else(|| format!("CPU {}", write.cpu), Task::head);
        let calls = write.calls.iter().map(|call| indented(5, &call.line()));
        head + &indented(3, &who) + &calls.collect::<String>()
    }
}

fn value(value: Option<u64>) -> String {
    value.map_or_else(|| "what is not known".to_owned(), |value| format!("{value:#x}"))
}
