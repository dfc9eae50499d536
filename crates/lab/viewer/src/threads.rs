//! What threads are called.

use std::collections::BTreeMap;

use ctf::{Event, Value};
use serde::{Deserialize, Serialize};

use crate::field::number;

/// The names of threads by their numbers, as they are at the event that was seen last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Threads(BTreeMap<i32, String>);

/// Longest name of a thread, in bytes: `TASK_COMM_LEN` of the kernel without the last NUL.
const NAME_MAX: usize = 15;

impl Threads {
    /// Learns from an event.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        let fields: &[(&str, &str)] = match event.class.name.as_str() {
            "sched:sched_switch" => &[("prev_pid", "prev_comm"), ("next_pid", "next_comm")],
            "sched:sched_process_fork" => &[("parent_pid", "parent_comm"), ("child_pid", "child_comm")],
            "sched:sched_wakeup" | "sched:sched_waking" | "sched:sched_wakeup_new" => &[("pid", "comm")],
            "sched:sched_process_exec" => &[("pid", "filename")],
            "task:task_rename" => &[("pid", "newcomm")],
            "kiln:task" => &[("tid", "comm")],
            _ => return,
        };
        for (thread, name) in fields {
            let name = event.field(name).as_ref().and_then(Value::text);
            if let (Some(thread), Some(name)) = (number(event, thread), name) {
                self.name_is(thread, &name);
            }
        }
    }

    fn name_is(&mut self, thread: i32, name: &str) {
        let name = called(name);
        match self.0.get_mut(&thread) {
            Some(known) if known == name => {}
            Some(known) => name.clone_into(known),
            None => drop(self.0.insert(thread, name.to_owned())),
        }
    }

    /// What a thread is called, if it is known.
    #[must_use]
    pub fn name(&self, thread: i32) -> Option<&str> {
        match thread {
            0 => Some("swapper"),
            thread => self.0.get(&thread).map(String::as_str),
        }
    }
}

/// What a thread is called by a name, or by the path of its program: the last part of it.
pub(crate) fn called(name: &str) -> &str {
    let name = name.rsplit('/').next().filter(|_| name.starts_with('/')).unwrap_or(name);
    let end = (0..=NAME_MAX.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    &name[..end]
}
