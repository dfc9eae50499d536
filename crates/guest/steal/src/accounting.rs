//! What the kernel says of a thread and of a CPU: getrusage(2), clock_gettime(2), proc_stat(5).

use std::fs;

use harness::clock::nanoseconds;
use harness::usage::{self, microseconds};
use protocol::steal::{CpuTimes, Usage};
use rustix::time::{ClockId, clock_gettime};

/// What the calling thread was charged with since it began.
pub(crate) fn of_this_thread() -> Usage {
    Usage { run_ns: nanoseconds(clock_gettime(ClockId::ThreadCPUTime)), ..of(&usage::of_this_thread()) }
}

/// What the kernel has charged, with a run time of the sum.
pub(crate) fn of(usage: &libc::rusage) -> Usage {
    let (user_us, system_us) = (microseconds(usage.ru_utime), microseconds(usage.ru_stime));
    Usage {
        user_us,
        system_us,
        // The kernel scales both so that their sum is the precise run time.
        run_ns: user_us.saturating_add(system_us).saturating_mul(1000),
        voluntary: usage.ru_nvcsw.unsigned_abs(),
        involuntary: usage.ru_nivcsw.unsigned_abs(),
    }
}

/// What was charged in between.
pub(crate) fn between(before: Usage, after: Usage) -> Usage {
    Usage {
        user_us: after.user_us.saturating_sub(before.user_us),
        system_us: after.system_us.saturating_sub(before.system_us),
        run_ns: after.run_ns.saturating_sub(before.run_ns),
        voluntary: after.voluntary.saturating_sub(before.voluntary),
        involuntary: after.involuntary.saturating_sub(before.involuntary),
    }
}

/// What the CPU has done since the machine was booted; nothing where `/proc/stat` does not say it.
pub(crate) fn cpu_times(cpu: u32) -> Option<CpuTimes> {
    read(&fs::read_to_string("/proc/stat").ok()?, cpu, tick_ms())
}

/// What it did in between.
pub(crate) fn since(before: Option<CpuTimes>, after: Option<CpuTimes>) -> Option<CpuTimes> {
    let (before, after) = before.zip(after)?;
    Some(CpuTimes {
        user_ms: after.user_ms.saturating_sub(before.user_ms),
        system_ms: after.system_ms.saturating_sub(before.system_ms),
        irq_ms: after.irq_ms.saturating_sub(before.irq_ms),
        softirq_ms: after.softirq_ms.saturating_sub(before.softirq_ms),
        steal_ms: after.steal_ms.saturating_sub(before.steal_ms),
        idle_ms: after.idle_ms.saturating_sub(before.idle_ms),
    })
}

/// The unit of times in `/proc`, in milliseconds.
pub(crate) fn tick_ms() -> u64 {
    1000 / rustix::param::clock_ticks_per_second().max(1)
}

fn read(text: &str, cpu: u32, tick_ms: u64) -> Option<CpuTimes> {
    let name = format!("cpu{cpu}");
    let mut words = text.lines().map(str::split_ascii_whitespace).find_map(|mut words| {
        let is_wanted = words.next() == Some(name.as_str());
        is_wanted.then_some(words)
    })?;
    let mut next = || Some(words.next()?.parse::<u64>().ok()?.saturating_mul(tick_ms));
    let [user, nice, system, idle, waiting, irq, softirq] =
        [next()?, next()?, next()?, next()?, next()?, next()?, next()?];
    Some(CpuTimes {
        user_ms: user.saturating_add(nice),
        system_ms: system,
        irq_ms: irq,
        softirq_ms: softirq,
        steal_ms: next().unwrap_or(0),
        idle_ms: idle.saturating_add(waiting),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAT: &str =
        "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 1 1 1 1 1 1 1\ncpu1 10 5 20 300 7 3 40 2 0 0\nintr 5 0\n";

    #[test]
    fn the_line_of_the_cpu_is_read() {
        let times = read(STAT, 1, 10).expect("it is there");
        let expected = CpuTimes {
            user_ms: 150,
            system_ms: 200,
            irq_ms: 30,
            softirq_ms: 400,
            steal_ms: 20,
            idle_ms: 3070,
        };
        assert_eq!(times, expected);
        assert_eq!((read(STAT, 10, 10), read("cpu1 1 2\n", 1, 10)), (None, None));
    }

    #[test]
    fn a_thread_that_computes_is_charged() {
        let before = of_this_thread();
        let end = harness::clock::monotonic() + 30_000_000;
        while harness::clock::monotonic() < end {}
        assert!(between(before, of_this_thread()).run_ns > 0);
        assert!(since(cpu_times(0), cpu_times(0)).is_some());
    }

    proptest! {
        #[test]
        fn no_text_is_read_wrongly(text in "(cpu1?|[ 0-9]{0,24}|\n){0,8}") {
            prop_assert!(read(&text, 1, u64::MAX).is_none_or(|_| text.contains("cpu1")));
        }
    }
}
