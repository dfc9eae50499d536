//! What a thread uses: getrusage(2).

use harness::usage::{self, microseconds};
use protocol::latency::Usage;

/// What the calling thread has used since it began.
pub(crate) fn of_this_thread() -> Usage {
    let usage = usage::of_this_thread();
    Usage {
        minor_faults: usage.ru_minflt.cast_unsigned(),
        major_faults: usage.ru_majflt.cast_unsigned(),
        voluntary_switches: usage.ru_nvcsw.cast_unsigned(),
        involuntary_switches: usage.ru_nivcsw.cast_unsigned(),
        user_us: microseconds(usage.ru_utime),
        system_us: microseconds(usage.ru_stime),
    }
}

/// What was used in between.
pub(crate) fn between(before: Usage, after: Usage) -> Usage {
    Usage {
        minor_faults: after.minor_faults.saturating_sub(before.minor_faults),
        major_faults: after.major_faults.saturating_sub(before.major_faults),
        voluntary_switches: after.voluntary_switches.saturating_sub(before.voluntary_switches),
        involuntary_switches: after.involuntary_switches.saturating_sub(before.involuntary_switches),
        user_us: after.user_us.saturating_sub(before.user_us),
        system_us: after.system_us.saturating_sub(before.system_us),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_and_a_new_page_are_seen() {
        std::thread::spawn(|| {
            let before = of_this_thread();
            let pages = std::hint::black_box(vec![1_u8; 4 << 20]);
            std::thread::sleep(std::time::Duration::from_millis(1));
            let used = between(before, of_this_thread());
            assert!(used.minor_faults > 0, "{used:?} for {} bytes", pages.len());
            assert!(used.voluntary_switches >= 1, "{used:?}");
        })
        .join()
        .expect("the thread did not panic");
    }
}
