//! What each process or thread had.

use std::collections::{BTreeMap, HashMap};

use harness::perf::Record;
use protocol::count::{Part, TASKS_MAX, Task};
use rustix::process::Pid;

/// Tasks that are known at a time at most.
const KNOWN_MAX: usize = 4 * TASKS_MAX;

/// Bytes of a name at most: `TASK_COMM_LEN` and more.
const NAME_MAX: usize = 64;

/// The processes or threads of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks {
    part: Option<Part>,
    first: Option<u32>,
    /// The place of each event by the ids of its counters.
    events: HashMap<u64, usize>,
    count: usize,
    /// By the numbers of processes, or those of threads.
    all: BTreeMap<u32, Task>,
    /// What all threads had but the first of the program.
    others: Vec<u64>,
    omitted: u64,
    lost: u64,
}

impl Tasks {
    /// The parts of a program that this process executes, and so many events, whose counters have these ids.
    pub(crate) fn new(
        part: Option<Part>,
        first: Option<Pid>,
        count: usize,
        events: HashMap<u64, usize>,
    ) -> Self {
        let first = first.map(|first| first.as_raw_nonzero().get().unsigned_abs());
        Self { part, first, events, count, others: vec![0; count], ..Self::default() }
    }

    /// Takes a record in.
    pub(crate) fn take(&mut self, record: Record) {
        match record {
            Record::Lost(lost) => self.lost = self.lost.saturating_add(lost),
            Record::Fork { pid, parent, tid } if pid != parent => {
                self.change(pid, tid, |task| task.parent = parent);
            }
            Record::Fork { pid, tid, .. } if self.part == Some(Part::Thread) => {
                self.change(pid, tid, |_| ());
            }
            Record::Name { pid, tid, mut name, .. } if pid == tid || self.part == Some(Part::Thread) => {
                name.truncate(name.floor_char_boundary(NAME_MAX));
                self.change(pid, tid, |task| task.name = name);
            }
            Record::Read { pid, tid, value, id } => {
                let Some(&at) = self.events.get(&id) else { return };
                self.others[at] = self.others[at].saturating_add(value);
                self.change(pid, tid, |task| task.counts[at] = task.counts[at].saturating_add(value));
            }
            // Another thread of a process that is one part, or nothing of a count.
            Record::Fork { .. } | Record::Name { .. } => {}
            Record::Exit { .. } | Record::Map(_) | Record::Throttled | Record::Sample(_) => {}
        }
    }

    /// The same with what each thread had, by its process and its number; the kernel has reported nothing of it.
    pub(crate) fn with(&self, counts: &[(u32, u32, Vec<u64>)]) -> Self {
        let mut all = self.clone();
        for (pid, tid, counts) in counts.iter().filter(|(_, tid, _)| Some(*tid) != self.first) {
            for (sum, count) in all.others.iter_mut().zip(counts) {
                *sum = sum.saturating_add(*count);
            }
            all.change(*pid, *tid, |task| {
                task.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
            });
        }
        all
    }

    fn change(&mut self, pid: u32, tid: u32, change: impl FnOnce(&mut Task)) {
        let tid = (self.part == Some(Part::Thread)).then_some(tid);
        let number = tid.unwrap_or(pid);
        if self.all.len() >= KNOWN_MAX && !self.all.contains_key(&number) {
            self.leave_out_the_smallest();
        }
        let counts = || vec![0; self.count];
        let new = || Task { pid, tid, parent: 0, name: String::new(), counts: counts() };
        change(self.all.entry(number).or_insert_with(new));
    }

    /// Leaves all out but the largest.
    fn leave_out_the_smallest(&mut self) {
        let mut all: Vec<Task> = std::mem::take(&mut self.all).into_values().collect();
        all.sort_by(|a, b| b.counts.cmp(&a.counts));
        self.omitted += all.len().saturating_sub(TASKS_MAX) as u64;
        all.truncate(TASKS_MAX);
        self.all = all.into_iter().map(|task| (task.tid.unwrap_or(task.pid), task)).collect();
    }

    /// The largest, first by the first event, and how many are left out, if all had these `sums`. The first thread of the program is not
    /// reported: it has had, with all that live, what no other one had.
    pub(crate) fn largest(&mut self, sums: &[u64]) -> (Vec<Task>, u64) {
        self.name_after_ancestors();
        self.leave_out_the_smallest();
        let first = self.first.and_then(|first| self.all.get_mut(&first));
        if let Some(first) = first {
            for ((count, sum), others) in first.counts.iter_mut().zip(sums).zip(&self.others) {
                *count = count.saturating_add(sum.saturating_sub(*others));
            }
        }
        let mut all: Vec<Task> = self.all.values().cloned().collect();
        all.sort_by(|a, b| b.counts.cmp(&a.counts).then_with(|| (a.pid, a.tid).cmp(&(b.pid, b.tid))));
        (all, self.omitted)
    }

    /// Records that were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// A process that executed nothing has the name of its parent, and a thread that of its process.
    fn name_after_ancestors(&mut self) {
        // Whoever makes a task has been made before, and mostly has a lower number.
        for number in self.all.keys().copied().collect::<Vec<_>>() {
            let Task { pid, parent, .. } = self.all[&number];
            let ancestor = if parent == 0 { pid } else { parent };
            let name = self.all.get(&ancestor).map(|ancestor| ancestor.name.clone());
            if let (Some(task), Some(name)) = (self.all.get_mut(&number), name)
                && task.name.is_empty()
            {
                task.name = name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// make, which starts cc1, which has a thread and makes a child.
    fn tasks(part: Part) -> Tasks {
        let mut tasks = Tasks::new(Some(part), Pid::from_raw(1), 2, [(5, 0), (6, 0), (7, 1)].into());
        let name = |pid, name: &str| Record::Name { pid, tid: pid, name: name.to_owned(), is_executed: true };
        tasks.take(name(1, "make"));
        tasks.take(Record::Fork { pid: 2, parent: 1, tid: 2 });
        tasks.take(name(2, "cc1"));
        tasks.take(Record::Fork { pid: 3, parent: 2, tid: 3 });
        tasks.take(Record::Fork { pid: 2, parent: 2, tid: 8 });
        tasks.take(Record::Fork { pid: 2, parent: 2, tid: 9 });
        tasks.take(Record::Name { pid: 2, tid: 9, name: "worker".to_owned(), is_executed: false });
        tasks
    }

    fn lines(tasks: &mut Tasks, sums: &[u64]) -> Vec<String> {
        let (all, omitted) = tasks.largest(sums);
        assert_eq!(omitted, 0);
        let line = |Task { pid, tid, parent, name, counts }: &Task| {
            format!("{pid} {} {parent} {name} {counts:?}", tid.unwrap_or(0))
        };
        all.iter().map(line).collect()
    }

    fn read(tasks: &mut Tasks) {
        let reads = [(2, 2, 10, 5), (2, 9, 4, 6), (2, 8, 1, 7), (3, 3, 5, 5), (1, 4, 2, 7), (1, 1, 9, 99)];
        for (pid, tid, value, id) in reads {
            tasks.take(Record::Read { pid, tid, value, id });
        }
    }

    #[test]
    fn threads_are_added_to_their_process() {
        let mut tasks = tasks(Part::Process);
        read(&mut tasks);
        tasks.take(Record::Lost(3));
        let expected = ["2 0 1 cc1 [14, 1]", "3 0 2 cc1 [5, 0]", "1 0 0 make [0, 7]"];
        assert_eq!(lines(&mut tasks, &[19, 8]), expected);
        assert_eq!(tasks.lost(), 3);
    }

    #[test]
    fn threads_are_shown_by_themselves() {
        let mut tasks = tasks(Part::Thread);
        read(&mut tasks);
        let expected = [
            "2 2 1 cc1 [10, 0]",
            "3 3 2 cc1 [5, 0]",
            "2 9 0 worker [4, 0]",
            "1 1 0 make [0, 5]",
            "1 4 0 make [0, 2]",
            "2 8 0 cc1 [0, 1]",
        ];
        assert_eq!(lines(&mut tasks, &[19, 8]), expected);
    }

    #[test]
    fn the_program_has_what_no_other_process_had() {
        let counts = [(1, 1, vec![7, 0]), (2, 2, vec![4, 0]), (2, 9, vec![1, 1]), (3, 3, vec![1, 0])];
        let mut processes = tasks(Part::Process).with(&counts);
        let expected = ["2 0 1 cc1 [5, 1]", "1 0 0 make [4, 1]", "3 0 2 cc1 [1, 0]"];
        assert_eq!(lines(&mut processes, &[10, 2]), expected);
    }

    #[test]
    fn of_too_many_the_largest_stay() {
        let mut tasks = Tasks::new(Some(Part::Process), None, 1, [(1, 0)].into());
        let count = u32::try_from(KNOWN_MAX).expect("small") + 100;
        for pid in 1..=count {
            tasks.take(Record::Read { pid, tid: pid, value: u64::from(pid), id: 1 });
        }
        let (all, omitted) = tasks.largest(&[]);
        assert_eq!((all.len(), all[0].pid), (TASKS_MAX, count));
        assert_eq!(omitted, u64::from(count) - TASKS_MAX as u64);
    }
}
