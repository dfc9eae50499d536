//! How long a machine has waited for a CPU of the host: Documentation/scheduler/sched-stats.rst.

use std::collections::HashMap;
use std::fs::read_to_string;
use std::time::{Duration, Instant};

use super::process_tree::{process_tree, threads};

/// How often is looked at most. A busy host lets a thread wait for a tenth of that at a time.
const INTERVAL: Duration = Duration::from_millis(500);

/// The sum over all that was seen so far.
#[derive(Debug)]
pub(super) struct Waiting {
    threads: HashMap<u32, Times>,
    looked: Instant,
    total: Duration,
}

/// What the host has counted for a thread since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Times {
    on_cpu: Duration,
    waited: Duration,
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
            self.take(passed, times(process));
        }
        self.total
    }

    /// Takes in what is counted now; `passed` is the time since the last look.
    fn take(&mut self, passed: Duration, now: HashMap<u32, Times>) {
        let mut all = Times::default();
        for (thread, now) in &now {
            let before = self.threads.get(thread).copied().unwrap_or_default();
            all.on_cpu += now.on_cpu.saturating_sub(before.on_cpu);
            all.waited += now.waited.saturating_sub(before.waited);
        }
        self.threads = now;
        self.total += all.share_of(passed);
    }
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

fn times(process: u32) -> HashMap<u32, Times> {
    let all =
        process_tree(process).into_iter().flat_map(|id| threads(id).into_iter().map(move |task| (id, task)));
    let read = |(id, task)| {
        let text = read_to_string(format!("/proc/{id}/task/{task}/schedstat")).ok()?;
        Some((task, Times::read(&text)?))
    };
    all.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn seen(threads: &[(u32, u64, u64)]) -> HashMap<u32, Times> {
        let times =
            |&(id, on_cpu, waited): &(u32, u64, u64)| (id, Times { on_cpu: ms(on_cpu), waited: ms(waited) });
        threads.iter().map(times).collect()
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

    #[test]
    fn the_host_counts_for_this_very_process() {
        let own = std::process::id();
        assert!(!crate::host::counts_waiting() || times(own).contains_key(&own));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = Times::read(&text);
        }

        #[test]
        fn nobody_waits_longer_than_time_passes(on_cpu in 0u64..1 << 40, waited in 0u64..1 << 40) {
            let times = Times { on_cpu: ms(on_cpu), waited: ms(waited) };
            prop_assert!(times.share_of(ms(1000)) <= ms(1000));
        }
    }
}
