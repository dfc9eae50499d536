//! The open files of processes.

use std::collections::{BTreeMap, HashMap};

use ctf::{Event, Trace};
use serde::{Deserialize, Serialize};

use crate::field::{number, text};
use crate::rows::ROWS_MAX;

/// What system calls that take an open file call it.
const DESCRIPTORS: [&str; 2] = ["fd", "epfd"];

/// Where the kernel tells of a system call.
const ENTER: &str = "syscalls:sys_enter_";
const EXIT: &str = "syscalls:sys_exit_";

/// Files that were open when the recording began and were not closed since. What is opened later has no name: events of system calls
/// tell where it is in the memory of the program, and not what it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Files {
    /// The processes of threads.
    processes: HashMap<i32, i32>,
    /// By process and descriptor.
    open: BTreeMap<(i32, i32), String>,
    /// The descriptors with which threads entered their system calls.
    calls: HashMap<i32, i32>,
}

impl Files {
    /// Whether a trace tells when files are closed.
    pub(crate) fn are_known(trace: &Trace) -> bool {
        trace.classes().iter().any(|class| class.name == "syscalls:sys_enter_close")
    }

    /// Learns from an event.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match event.class.name.as_str() {
            "kiln:task" => {
                if let (Some(thread), Some(process)) = (number(event, "tid"), number(event, "pid")) {
                    self.processes.insert(thread, process);
                }
            }
            "kiln:descriptor" if self.open.len() < ROWS_MAX => {
                let place = number(event, "pid").zip(number(event, "fd"));
                self.open.extend(place.zip(text(event, "file")));
            }
            "sched:sched_process_exec" => self.close(event, 0..=i32::MAX),
            "sched:sched_process_exit" => {
                let process = event.thread.and_then(|thread| self.processes.remove(&thread));
                if process == event.thread {
                    self.open.retain(|(of, _), _| Some(*of) != process);
                }
            }
            name => match name.strip_prefix(ENTER) {
                Some(call) => self.enter(event, call),
                None if name.starts_with(EXIT) => drop(event.thread.and_then(|it| self.calls.remove(&it))),
                None => {}
            },
        }
    }

    fn enter(&mut self, event: &Event<'_>, call: &str) {
        let field = |name: &str| number(event, name);
        // What is no descriptor closes none.
        let one = |name: &str| field(name).unwrap_or(-1)..=field(name).unwrap_or(-1);
        match call {
            "close" => self.close(event, one("fd")),
            "dup2" | "dup3" => self.close(event, one("newfd")),
            // A last one beyond all numbers is usual.
            "close_range" => {
                self.close(event, field("fd").unwrap_or(0)..=field("max_fd").unwrap_or(i32::MAX));
            }
            _ => {
                let descriptor = DESCRIPTORS.iter().find_map(|name| field(name));
                self.calls.extend(event.thread.zip(descriptor));
            }
        }
    }

    fn close(&mut self, event: &Event<'_>, numbers: std::ops::RangeInclusive<i32>) {
        let process = event.thread.and_then(|thread| self.processes.get(&thread)).copied();
        self.open.retain(|(of, number), _| Some(*of) != process || !numbers.contains(number));
    }

    /// The file with which a thread is in its system call.
    #[must_use]
    pub fn of_call(&self, thread: i32) -> Option<&str> {
        let (process, number) = (self.processes.get(&thread)?, self.calls.get(&thread)?);
        self.open.get(&(*process, *number)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Happened, It, On, on, trace};

    /// Threads 7 and 8 of process 7 with a file.
    fn begun() -> Vec<Happened> {
        let task = |thread| {
            let fields = [("tid", It::Number(thread)), ("pid", It::Number(7)), ("comm", It::Text("x"))];
            on(0, 1, 0).event("kiln:task", &fields)
        };
        let file = [("pid", It::Number(7)), ("fd", It::Number(3)), ("file", It::Text("pipe:[17]"))];
        vec![task(7), task(8), on(0, 1, 0).event("kiln:descriptor", &file)]
    }

    fn read(at: On) -> Happened {
        at.event("syscalls:sys_enter_read", &[("fd", It::Number(3))])
    }

    /// The file of thread 8 after these events, which begin as [`begun`].
    fn of_call(events: Vec<Happened>) -> Option<String> {
        let (_place, trace) = trace(&begun().into_iter().chain(events).collect::<Vec<_>>());
        let (mut files, mut events) = (Files::default(), trace.events(0));
        while let Some(event) = events.next_event().expect("readable") {
            files.see(&event);
        }
        files.of_call(8).map(str::to_owned)
    }

    #[test]
    fn a_call_has_its_file_until_it_is_closed() {
        let enter = || read(on(0, 3, 8));
        assert_eq!(of_call(vec![enter()]).as_deref(), Some("pipe:[17]"));
        assert_eq!(of_call(vec![enter(), on(0, 4, 8).exit_read(0)]), None, "it is in no call");
        let numbers = |name, fields: &[(&'static str, i64)]| {
            let fields: Vec<_> = fields.iter().map(|(name, number)| (*name, It::Number(*number))).collect();
            on(0, 2, 7).event(name, &fields)
        };
        let closed = [
            numbers("syscalls:sys_enter_close", &[("fd", 3)]),
            numbers("syscalls:sys_enter_dup2", &[("oldfd", 1), ("newfd", 3)]),
            numbers("syscalls:sys_enter_close_range", &[("fd", 3), ("max_fd", 0xffff_ffff)]),
            numbers("sched:sched_process_exec", &[]),
            numbers("sched:sched_process_exit", &[]),
        ];
        for event in closed {
            assert_eq!(of_call(vec![event.clone(), enter()]), None, "{}", event.name);
        }
        let other = numbers("syscalls:sys_enter_close", &[("fd", 4)]);
        assert!(of_call(vec![other, enter()]).is_some());
        let elsewhere = on(0, 2, 9).event("syscalls:sys_enter_close", &[("fd", It::Number(3))]);
        assert!(of_call(vec![elsewhere, enter()]).is_some(), "of another process");
    }
}
