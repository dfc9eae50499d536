//! Which threads there were, and which of them made which.

use std::collections::HashMap;

use ctf::Event;

use crate::field::{number, text};
use crate::interval::{Interval, State, What};
use crate::look::View;
use crate::seen::Seen;
use crate::threads::{Threads, called};

/// Threads at most.
const TASKS_MAX: usize = 1_000_000;

/// Programs of a thread that are listed at most.
const PROGRAMS_MAX: usize = 16;

/// All threads of a trace.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// In the order in which they were seen.
    pub tasks: Vec<Task>,
    /// Those that have a number now.
    current: HashMap<i32, usize>,
}

/// A thread, which the kernel calls a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// Its number.
    pub number: i32,
    /// What it was called, from one `execve` to the next; the last is what it is called at the end.
    pub names: Vec<String>,
    /// When it was made, in nanoseconds on the clock of the trace; nothing if it was there before.
    pub began: Option<u64>,
    /// When it ended; nothing if it was there at the end.
    pub ended: Option<u64>,
    /// Nanoseconds on a CPU.
    pub running: u64,
    /// Events in it.
    pub events: u64,
    /// The task that made it, by its place.
    parent: Option<usize>,
    /// The number of its parent, of which nothing is known yet.
    parent_number: Option<i32>,
}

impl Tree {
    /// The children of a task, or those that have no parent here, by their places.
    #[must_use]
    pub fn children(&self) -> HashMap<Option<usize>, Vec<usize>> {
        let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let places = self.tasks.iter().enumerate();
        let before: HashMap<i32, usize> = places
            .clone()
            .filter(|(_, task)| task.began.is_none())
            .map(|(place, task)| (task.number, place))
            .collect();
        for (place, task) in places {
            let earlier = || before.get(&task.parent_number?).copied();
            let parent = task.parent.or_else(earlier).filter(|parent| *parent != place);
            children.entry(parent).or_default().push(place);
        }
        children
    }

    fn task(&mut self, number: i32) -> Option<&mut Task> {
        let place = self.place(number)?;
        self.tasks.get_mut(place)
    }

    /// The place of the task that has a number now.
    fn place(&mut self, number: i32) -> Option<usize> {
        let known = self.current.get(&number).copied();
        known.or_else(|| self.make(number))
    }

    /// A new task; nothing if there are too many, or for what is on a CPU that has nothing to do.
    fn make(&mut self, number: i32) -> Option<usize> {
        let place = self.tasks.len();
        if place >= TASKS_MAX || number == 0 {
            return None;
        }
        self.tasks.push(Task { number, ..Task::default() });
        self.current.insert(number, place);
        Some(place)
    }

    fn fork(&mut self, event: &Event<'_>) {
        let (Some(parent), Some(child)) = (number(event, "parent_pid"), number(event, "child_pid")) else {
            return;
        };
        let parent = self.place(parent);
        // Its number may have been that of another one.
        self.current.remove(&child);
        let name = name(event, "child_comm");
        if let Some(task) = self.task(child) {
            (task.parent, task.began) = (parent, Some(event.time));
            task.names.extend(name);
        }
    }
}

impl View for Tree {
    fn event(&mut self, seen: &Seen<'_>) {
        let event = &seen.event;
        match event.class.name.as_str() {
            "kiln:task" => {
                let [thread, process, parent] = ["tid", "pid", "ppid"].map(|field| number(event, field));
                let name = name(event, "comm");
                let Some(task) = thread.and_then(|thread| self.task(thread)) else { return };
                task.parent_number = if process == thread { parent } else { process };
                task.names.extend(name);
            }
            "sched:sched_process_fork" => self.fork(event),
            "sched:sched_process_exec" => {
                let name = name(event, "filename");
                let Some(task) = event.thread.and_then(|thread| self.task(thread)) else { return };
                task.names.extend(name.filter(|_| task.names.len() < PROGRAMS_MAX));
            }
            "sched:sched_process_exit" => {
                if let Some(task) = event.thread.and_then(|thread| self.task(thread)) {
                    task.ended = Some(event.time);
                }
            }
            _ => {}
        }
        if let Some(task) = event.thread.and_then(|thread| self.task(thread)) {
            task.events += 1;
            if let Some(comm) = seen.comm.filter(|_| task.names.is_empty()) {
                task.names.push(comm.to_owned());
            }
        }
    }

    fn interval(&mut self, interval: &Interval, _threads: &Threads) {
        if let What::State { state: State::Running, .. } = interval.what
            && let Some(task) = self.task(interval.thread)
        {
            task.running += interval.length();
        }
    }
}

/// A name of a thread or a program.
fn name(event: &Event<'_>, field: &str) -> Option<String> {
    text(event, field).map(|name| called(&name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Happened, It, On, on, viewed};

    fn fork(at: On, child: i64) -> Happened {
        let fields = [
            ("parent_pid", It::Number(at.thread.into())),
            ("child_pid", It::Number(child)),
            ("child_comm", It::Text("child")),
        ];
        at.event("sched:sched_process_fork", &fields)
    }

    fn task(number: i64, process: i64, parent: i64) -> Happened {
        let [tid, pid, ppid] = [number, process, parent].map(It::Number);
        let fields = [("tid", tid), ("pid", pid), ("ppid", ppid), ("comm", It::Text("early"))];
        on(0, 0, 1).event("kiln:task", &fields)
    }

    #[test]
    fn a_number_that_comes_again_is_another_task() {
        let program = [("filename", It::Text("/usr/bin/true"))];
        let exit = [("comm", It::Text("true"))];
        let events = [
            task(7, 7, 1),
            task(9, 7, 1),
            fork(on(0, 10, 9), 8),
            on(0, 20, 8).event("sched:sched_process_exec", &program),
            on(0, 30, 8).event("sched:sched_process_exit", &exit),
            fork(on(0, 40, 7), 8),
            on(0, 50, 8).switch(1, 7),
        ];
        let found: Tree = viewed(&events, None);
        let tasks: Vec<_> = found.tasks.iter().map(|task| (task.number, task.began, task.ended)).collect();
        let at = |number| tasks.iter().position(|task| task.0 == number).expect("it is there");
        let (first, seven, nine) = (at(8), at(7), at(9));
        let second = first + 1 + tasks[first + 1..].iter().position(|task| task.0 == 8).expect("twice");
        assert_eq!((tasks[first], tasks[second]), ((8, Some(10), Some(30)), (8, Some(40), None)));
        assert_eq!(found.tasks[first].names, ["child", "true"]);
        let children = found.children();
        assert_eq!(children[&Some(nine)], [first]);
        assert_eq!(children[&Some(seven)], [nine, second]);
    }

    #[test]
    fn parents_of_each_other_are_no_endless_loop() {
        let found: Tree = viewed(&[task(7, 7, 8), task(8, 8, 7), task(9, 9, 9)], None);
        // The thread in which the events were comes from nowhere, and so does 9.
        assert_eq!(found.children()[&None].len(), 2);
    }
}
