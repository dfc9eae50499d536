//! Which threads have run on a CPU: proc_pid_stat(5).

use std::collections::HashMap;
use std::fs;

use protocol::results::cut;
use protocol::steal::{TEXT_MAX, ThreadTime};
use rustix::process::Pid;
use rustix::thread::sched_getaffinity;

use crate::accounting::tick_ms;

/// Threads of a machine at most: those beyond are not looked at.
const THREADS: usize = 1 << 16;

/// All threads by their ids, with the run time of each in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(HashMap<u32, Thread>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Thread {
    name: String,
    cpu: u32,
    ns: u64,
}

impl Snapshot {
    /// Threads as they are now, but for those of this process.
    pub(crate) fn take() -> Self {
        let own = std::process::id();
        let processes = ids("/proc").filter(|process| *process != own);
        let threads = processes.flat_map(|process| {
            let directory = format!("/proc/{process}/task");
            ids(&directory)
                .filter_map(move |id| Some((id, Thread::read(&format!("/proc/{process}/task/{id}"))?)))
        });
        Self(threads.take(THREADS).collect())
    }

    /// Which threads have run since, and are or were on this CPU; those that ran the longest first.
    pub(crate) fn ran_on(&self, cpu: u32, now: &Self) -> Vec<ThreadTime> {
        ThreadTime::longest(now.0.iter().filter_map(|(id, thread)| {
            let before = self.0.get(id);
            let was_there = thread.cpu == cpu || before.is_some_and(|before| before.cpu == cpu);
            let ns = thread.ns.saturating_sub(before.map_or(0, |before| before.ns));
            let name = cut(&thread.name, TEXT_MAX).to_owned();
            (was_there && ns > 0).then(|| ThreadTime { name, ns, at_most: !is_pinned(*id) })
        }))
    }
}

impl Thread {
    fn read(directory: &str) -> Option<Self> {
        let stat = fs::read(format!("{directory}/stat")).ok()?;
        let thread = Self::parse(&String::from_utf8_lossy(&stat), tick_ms())?;
        // More precise, where the kernel has it.
        let precise = fs::read_to_string(format!("{directory}/schedstat")).ok();
        let ns = precise.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok());
        Some(Self { ns: ns.unwrap_or(thread.ns), ..thread })
    }

    /// The name may have any characters.
    fn parse(stat: &str, tick_ms: u64) -> Option<Self> {
        let (head, tail) = stat.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        // The first one behind the name is the third field.
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let ticks = number(14)?.saturating_add(number(15)?);
        let cpu = u32::try_from(number(39)?).ok()?;
        Some(Self { name: name.to_owned(), cpu, ns: ticks.saturating_mul(tick_ms).saturating_mul(1_000_000) })
    }
}

/// Whether a thread can run on one CPU only.
fn is_pinned(id: u32) -> bool {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    sched_getaffinity(id).is_ok_and(|set| set.count() == 1)
}

/// The entries of a directory that are numbers.
fn ids(directory: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stat(name: &str, cpu: u32) -> String {
        let zeroes = vec!["0"; 23].join(" ");
        format!("7 ({name}) S 1 7 7 0 -1 64 0 0 0 0 120 30 {zeroes} {cpu} 0 0\n")
    }

    #[test]
    fn name_time_and_cpu_are_read_whatever_the_name_is() {
        for name in ["ksoftirqd/1", "a) S 1 (b", ""] {
            let thread = Thread::parse(&stat(name, 3), 10);
            assert_eq!(thread, Some(Thread { name: name.to_owned(), cpu: 3, ns: 1_500_000_000 }));
        }
        assert_eq!(Thread::parse("7 (x) S 1 2 3", 10), None);
    }

    #[test]
    fn only_threads_that_ran_and_were_there_are_named() {
        let thread = |cpu, ns| Thread { name: format!("on {cpu}"), cpu, ns };
        let before = Snapshot([(1, thread(0, 5)), (2, thread(1, 5)), (3, thread(1, 5))].into());
        let after =
            Snapshot([(1, thread(0, 9)), (2, thread(1, 5)), (3, thread(0, 8)), (4, thread(1, 7))].into());
        let ran = before.ran_on(1, &after);
        assert_eq!(ran.iter().map(|thread| thread.ns).collect::<Vec<u64>>(), [7, 3]);
    }

    #[test]
    fn this_machine_has_threads_that_are_not_of_this_process() {
        let snapshot = Snapshot::take();
        assert!(!snapshot.0.contains_key(&std::process::id()));
        assert!(snapshot.0.contains_key(&1), "process 1 is always there");
    }

    proptest! {
        #[test]
        fn no_line_is_read_wrongly(line in "[0-9() a-zA-Z-]{0,200}") {
            prop_assert!(Thread::parse(&line, u64::MAX).is_none_or(|thread| line.contains(&thread.name)));
        }
    }
}
