//! Writes to what is watched.

use introspect::Task;
use machine::hazards::Write;
use serde::Serialize;

use super::groups::Group;
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

/// Whether they are to the same data with the same calls.
pub(super) fn is_alike(one: &Written, other: &Written) -> bool {
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

/// Writes to the same data with the same calls.
pub(super) fn text(group: &Group<'_, Written>, number: usize) -> String {
    let Written { case, write } = group.first;
    let last = &group.all.last().unwrap_or(&group.first).write;
    let head = format!(
        "{number}. {} in {}: {}, the last from {} to {}\n",
        safe_line(&write.variable),
        safe_line(case),
        counted(group.all.len(), "write"),
        value(last.before),
        value(last.after)
    );
    let who = write.task.as_ref().map_or_else(|| format!("CPU {}", write.cpu), Task::head);
    let calls = write.calls.iter().map(|call| indented(5, &call.line()));
    head + &indented(3, &who) + &calls.collect::<String>()
}

fn value(value: Option<u64>) -> String {
    value.map_or_else(|| "what is not known".to_owned(), |value| format!("{value:#x}"))
}
