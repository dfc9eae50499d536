//! Tasks that sleep for a lock.

use machine::hazards::Wait;
use serde::Serialize;

use super::groups::Group;
use super::{functions, indented};
use crate::safe::safe_line;
use crate::times::nanoseconds;
use crate::words::counted;

/// A task that slept for a lock for too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Slept {
    /// The case, or the program.
    pub case: String,
    /// What was seen when the machine was stopped.
    #[serde(flatten)]
    pub wait: Wait,
}

/// Whether they slept for the same lock with the same calls.
pub(super) fn is_alike(one: &Slept, other: &Slept) -> bool {
    let (first, second) = (&one.wait, &other.wait);
    one.case == other.case
        && (&first.lock.kind, first.lock.address) == (&second.lock.kind, second.lock.address)
        && functions(&first.task.calls) == functions(&second.task.calls)
}

/// The lock, as far as it is known: `mutex 0x10 (an object of filp)`.
pub(super) fn lock(wait: &Wait) -> String {
    let address = wait.lock.address.map(|address| format!(" {address:#x}")).unwrap_or_default();
    let name = wait.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    safe_line(&format!("{}{address}{name}", wait.lock.kind))
}

/// Sleeps for the same lock with the same calls, by the first stop at which the lock had an owner: nobody has it while it is passed on.
pub(super) fn text(group: &Group<'_, Slept>, number: usize) -> String {
    let known = group.all.iter().find(|slept| slept.wait.owner.is_some());
    let Slept { case, wait } = known.unwrap_or(&group.first);
    let longest_ns = group.all.iter().map(|slept| slept.wait.slept_ns).max().unwrap_or(0);
    let waiters = wait.lock.waiters.and_then(|waiters| usize::try_from(waiters).ok());
    let tasks = waiters.map(|waiters| format!(", {} in its queue", counted(waiters, "task")));
    let head = format!(
        "{number}. {} in {}: {}, at most {}{}\n",
        lock(wait),
        safe_line(case),
        counted(group.all.len(), "sleep"),
        nanoseconds(longest_ns),
        tasks.unwrap_or_default()
    );
    let owner = match (&wait.owner, wait.lock.is_read) {
        (Some(owner), false) => (format!("{} has it", owner.head()), owner.lines()),
        (Some(owner), true) => {
            (format!("{} reads it, or was the last that did", owner.head()), owner.lines())
        }
        (None, _) => ("who has it is not known".to_owned(), Vec::new()),
    };
    let waiting = (format!("{} waits", wait.task.head()), wait.task.lines());
    let part = |(head, lines): (String, Vec<String>)| {
        let lines = lines.iter().skip(1).map(|line| indented(5, line));
        indented(3, &head) + &lines.collect::<String>()
    };
    head + &part(waiting) + &part(owner)
}
