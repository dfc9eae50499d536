//! What each process had.

use std::collections::{BTreeMap, HashMap};

use harness::perf::Record;
use protocol::count::{PROCESSES_MAX, Process};
use rustix::process::Pid;

/// Processes that are known at a time at most.
const KNOWN_MAX: usize = 4 * PROCESSES_MAX;

/// Bytes of a name at most: `TASK_COMM_LEN` and more.
const NAME_MAX: usize = 64;

/// The processes of a program.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    first: Option<u32>,
    /// The place of each event by the ids of its counters.
    events: HashMap<u64, usize>,
    count: usize,
    all: BTreeMap<u32, Process>,
    /// What all threads had but the first.
    others: Vec<u64>,
    omitted: u64,
    lost: u64,
}

impl Processes {
    /// Of a program that this process executes, and so many events, whose counters have these ids.
    pub(crate) fn new(first: Option<Pid>, count: usize, events: HashMap<u64, usize>) -> Self {
        let first = first.map(|first| first.as_raw_nonzero().get().unsigned_abs());
        Self { first, events, count, ..Self::default() }
    }

    /// Takes a record in.
    pub(crate) fn take(&mut self, record: Record) {
        match record {
            Record::Lost(lost) => self.lost = self.lost.saturating_add(lost),
            Record::Fork { pid, parent, .. } if pid != parent => {
                self.change(pid, |process| process.parent = parent);
            }
            // Another thread of the same process.
            Record::Fork { .. } => {}
            Record::Name { pid, tid, mut name, .. } => {
                name.truncate(name.floor_char_boundary(NAME_MAX));
                if pid == tid {
                    self.change(pid, |process| process.name = name);
                }
            }
            Record::Read { pid, value, id } => {
                let Some(&at) = self.events.get(&id) else { return };
                self.others.resize(self.count, 0);
                self.others[at] = self.others[at].saturating_add(value);
                self.change(pid, |process| process.counts[at] = process.counts[at].saturating_add(value));
            }
            Record::Exit { .. } | Record::Map(_) | Record::Throttled | Record::Sample(_) => {}
        }
    }

    fn change(&mut self, pid: u32, change: impl FnOnce(&mut Process)) {
        if self.all.len() >= KNOWN_MAX && !self.all.contains_key(&pid) {
            self.leave_out_the_smallest();
        }
        let counts = || vec![0; self.count];
        let process = self.all.entry(pid).or_insert_with(|| Process {
            pid,
            parent: 0,
            name: String::new(),
            counts: counts(),
        });
        change(process);
    }

    /// Leaves all out but the largest.
    fn leave_out_the_smallest(&mut self) {
        let mut all: Vec<Process> = std::mem::take(&mut self.all).into_values().collect();
        all.sort_by(|a, b| b.counts.cmp(&a.counts));
        self.omitted += all.len().saturating_sub(PROCESSES_MAX) as u64;
        all.truncate(PROCESSES_MAX);
        self.all = all.into_iter().map(|process| (process.pid, process)).collect();
    }

    /// The largest, first by the first event, and how many are left out, if all had these `sums`. The first thread of the program is not
    /// reported: it has had, with all that live, what no other one had.
    pub(crate) fn largest(&mut self, sums: &[u64]) -> (Vec<Process>, u64) {
        self.name_after_parents();
        self.leave_out_the_smallest();
        let mut all: Vec<Process> = self.all.values().cloned().collect();
        let first = all.iter_mut().find(|process| Some(process.pid) == self.first);
        if let Some(first) = first {
            for (at, (count, sum)) in first.counts.iter_mut().zip(sums).enumerate() {
                let others = self.others.get(at).copied().unwrap_or(0);
                *count = count.saturating_add(sum.saturating_sub(others));
            }
        }
        all.sort_by(|a, b| b.counts.cmp(&a.counts).then_with(|| a.pid.cmp(&b.pid)));
        (all, self.omitted)
    }

    /// Records that were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// A process that executed nothing has the name of its parent.
    fn name_after_parents(&mut self) {
        // A parent has been made before its child, and mostly has a lower number.
        for pid in self.all.keys().copied().collect::<Vec<_>>() {
            let parent = self.all[&pid].parent;
            let name = self.all.get(&parent).map(|parent| parent.name.clone());
            if let (Some(process), Some(name)) = (self.all.get_mut(&pid), name)
                && process.name.is_empty()
            {
                process.name = name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_to_their_process() {
        let mut processes = Processes::new(Pid::from_raw(1), 2, [(5, 0), (6, 0), (7, 1)].into());
        let name = |pid, name: &str| Record::Name { pid, tid: pid, name: name.to_owned(), is_executed: true };
        processes.take(name(1, "make"));
        processes.take(Record::Fork { pid: 2, parent: 1, tid: 2 });
        processes.take(name(2, "cc1"));
        processes.take(Record::Fork { pid: 3, parent: 2, tid: 3 });
        processes.take(Record::Fork { pid: 2, parent: 2, tid: 9 });
        processes.take(Record::Name { pid: 2, tid: 9, name: "worker".to_owned(), is_executed: false });
        for (pid, value, id) in [(2, 10, 5), (2, 4, 6), (2, 1, 7), (3, 5, 5), (1, 2, 7), (1, 9, 99)] {
            processes.take(Record::Read { pid, value, id });
        }
        processes.take(Record::Lost(3));
        let (all, omitted) = processes.largest(&[19, 8]);
        let lines: Vec<_> =
            all.iter().map(|one| (one.pid, one.parent, one.name.as_str(), one.counts.as_slice())).collect();
        let expected: [(u32, u32, &str, &[u64]); 3] =
            [(2, 1, "cc1", &[14, 1]), (3, 2, "cc1", &[5, 0]), (1, 0, "make", &[0, 7])];
        assert_eq!(lines, expected);
        assert_eq!((omitted, processes.lost()), (0, 3));
    }

    #[test]
    fn of_too_many_the_largest_stay() {
        let mut processes = Processes::new(None, 1, [(1, 0)].into());
        let count = u32::try_from(KNOWN_MAX).expect("small") + 100;
        for pid in 1..=count {
            processes.take(Record::Read { pid, value: u64::from(pid), id: 1 });
        }
        let (all, omitted) = processes.largest(&[]);
        assert_eq!((all.len(), all[0].pid), (PROCESSES_MAX, count));
        assert_eq!(omitted, u64::from(count) - PROCESSES_MAX as u64);
    }
}
