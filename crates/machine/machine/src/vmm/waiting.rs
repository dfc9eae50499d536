//! How long a machine has waited for a CPU of the host: Documentation/scheduler/sched-stats.rst.

use std::collections::HashMap;
use std::fs::read_to_string;
use std::time::{Duration, Instant};

use super::process_tree::{process_tree, threads};

/// The least time between two looks. The host counts how long a thread has waited only when it has got a CPU, which takes it
/// seconds if its priority is low.
const INTERVAL: Duration = Duration::from_millis(500);

/// The sum over all that was seen so far.
#[derive(Debug)]
pub(super) struct Waiting {
    threads: HashMap<u32, Thread>,
    looked: Instant,
    total: Duration,
}

/// What the host has counted for a thread since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Times {
    on_cpu: Duration,
    waited: Duration,
}

/// A thread at a look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Thread {
    counted: Times,
    /// It has a CPU or waits for one.
    is_runnable: bool,
    /// How long it has waited since the host last counted.
    uncounted: Duration,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Self { threads: HashMap::new(), looked: Instant::now(), total: Duration::ZERO }
    }

    /// How long the machine has waited, whose first process this is.
    pub(super) fn look(&mut self, process: u32) -> Duration {
        let passed = self.looked.elapsed();
        if passed >= INTERVAL {
            self.looked = Instant::now();
            self.take(passed, threads_of(process));
        }
        self.total
    }

    /// Takes in what is there now; `passed` is the time since the last look.
    fn take(&mut self, passed: Duration, mut now: HashMap<u32, Thread>) {
        let mut all = Times::default();
        for (id, thread) in &mut now {
            let before = self.threads.get(id).copied().unwrap_or_default();
            let new = thread.since(before, passed);
            all.on_cpu += new.on_cpu;
            all.waited += new.waited;
        }
        self.threads = now;
        self.total += all.share_of(passed);
    }
}

impl Thread {
    /// What is new since another look. A thread that was runnable then, and for which nothing was counted, has waited since:
    /// it cannot have slept without a CPU.
    fn since(&mut self, before: Self, passed: Duration) -> Times {
        if before.is_runnable && self.is_runnable && self.counted == before.counted {
            self.uncounted = before.uncounted + passed;
            return Times { on_cpu: Duration::ZERO, waited: passed };
        }
        let waited = self.counted.waited.saturating_sub(before.counted.waited);
        Times {
            on_cpu: self.counted.on_cpu.saturating_sub(before.counted.on_cpu),
            waited: waited.saturating_sub(before.uncounted),
        }
    }

    fn read(process: u32, task: u32) -> Option<Self> {
        let read = |file: &str| read_to_string(format!("/proc/{process}/task/{task}/{file}")).ok();
        let is_runnable = is_runnable(&read("stat")?);
        Some(Self { counted: Times::read(&read("schedstat")?)?, is_runnable, uncounted: Duration::ZERO })
    }
}

/// By the state in proc_pid_stat(5), behind a name that may hold anything.
fn is_runnable(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('R'))
}

impl Times {
    /// Threads that take turns wait one after the other; of those that wait at once each counts for a part.
    fn share_of(self, passed: Duration) -> Duration {
        let wanted = self.on_cpu + self.waited;
        match wanted <= passed {
            true => self.waited,
            false => self.waited.mul_f64(passed.as_secs_f64() / wanted.as_secs_f64()),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(|word| word.parse().ok().map(Duration::from_nanos));
        Some(Self { on_cpu: numbers.next()??, waited: numbers.next()?? })
    }
}

fn threads_of(process: u32) -> HashMap<u32, Thread> {
    let all =
        process_tree(process).into_iter().flat_map(|id| threads(id).into_iter().map(move |task| (id, task)));
    all.filter_map(|(id, task)| Some((task, Thread::read(id, task)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn thread(is_runnable: bool, on_cpu: u64, waited: u64) -> Thread {
        let counted = Times { on_cpu: ms(on_cpu), waited: ms(waited) };
        Thread { counted, is_runnable, uncounted: Duration::ZERO }
    }

    /// Threads that sleep while they are looked at.
    fn seen(threads: &[(u32, u64, u64)]) -> HashMap<u32, Thread> {
        threads.iter().map(|&(id, on_cpu, waited)| (id, thread(false, on_cpu, waited))).collect()
    }

    /// What two looks find that are a second apart.
    fn waited(before: &[(u32, u64, u64)], after: &[(u32, u64, u64)]) -> Duration {
        let mut waiting = Waiting { threads: seen(before), ..Waiting::new() };
        waiting.take(ms(1000), seen(after));
        waiting.total
    }

    #[test]
    fn one_thread_waits_as_long_as_the_host_says() {
        assert_eq!(waited(&[(1, 500, 100)], &[(1, 600, 1000)]), ms(900));
        assert_eq!(waited(&[(1, 500, 100)], &[(1, 500, 100)]), ms(0), "it sleeps");
    }

    #[test]
    fn threads_that_take_turns_wait_one_after_the_other() {
        assert_eq!(waited(&[(1, 0, 0), (2, 0, 0)], &[(1, 100, 400), (2, 100, 400)]), ms(800));
    }

    #[test]
    fn four_processors_on_two_of_the_host_wait_half_of_the_time() {
        let before = [(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)];
        let after = before.map(|(id, ..)| (id, 500, 500));
        assert_eq!(waited(&before, &after), ms(500));
    }

    #[test]
    fn a_thread_that_ended_takes_nothing_back() {
        assert_eq!(waited(&[(1, 0, 0), (2, 900, 900)], &[(1, 100, 200), (3, 10, 10)]), ms(210));
    }

    /// At idle priority beside a full load.
    #[test]
    fn a_thread_that_waits_for_seconds_has_waited_before_the_host_counts_it() {
        let mut waiting = Waiting { threads: HashMap::from([(1, thread(true, 100, 0))]), ..Waiting::new() };
        for _ in 0..5 {
            waiting.take(ms(1000), HashMap::from([(1, thread(true, 100, 0))]));
        }
        assert_eq!(waiting.total, ms(5000));
        waiting.take(ms(1000), HashMap::from([(1, thread(true, 200, 5900))]));
        assert_eq!(waiting.total, ms(5900), "nothing counts twice");
        waiting.take(ms(1000), HashMap::from([(1, thread(false, 300, 6000))]));
        assert_eq!(waiting.total, ms(6000));
        waiting.take(ms(1000), HashMap::from([(1, thread(true, 300, 6000))]));
        assert_eq!(waiting.total, ms(6000), "it has just woken up");
    }

    #[test]
    fn a_thread_is_runnable_by_its_state_and_not_by_its_name() {
        assert!(is_runnable("7 (a) S) R 1 7"));
        assert!(!is_runnable("7 (a) R) S 1 7") && !is_runnable(""));
    }

    #[test]
    fn the_host_counts_for_this_very_process() {
        let own = std::process::id();
        assert!(!crate::host::counts_waiting() || threads_of(own).contains_key(&own));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = (Times::read(&text), is_runnable(&text));
        }

        #[test]
        fn nobody_waits_longer_than_time_passes(on_cpu in 0u64..1 << 40, waited in 0u64..1 << 40) {
            let times = Times { on_cpu: ms(on_cpu), waited: ms(waited) };
            prop_assert!(times.share_of(ms(1000)) <= ms(1000));
        }
    }
}
