//! What the kernel counts of waiting and of time that was taken away.

use std::time::Duration;

/// Counters that only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    /// Microseconds in which some process waited for a CPU.
    pub(super) cpu: u64,
    /// The same for memory.
    pub(super) memory: u64,
    /// The same for block devices.
    pub(super) io: u64,
    pub(super) time: CpuTime,
}

/// Time of all CPUs together, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CpuTime {
    total: u64,
    stolen: u64,
}

/// Parts of the time between two accounts, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    pub(super) cpu: f64,
    pub(super) memory: f64,
    pub(super) io: f64,
    pub(super) steal: f64,
}

impl Accounts {
    /// What happened since `before`, which was `elapsed` ago.
    pub(super) fn since(&self, before: &Self, elapsed: Duration) -> Shares {
        let all = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let ticks = self.time.total.saturating_sub(before.time.total);
        Shares {
            cpu: share(self.cpu.saturating_sub(before.cpu), all),
            memory: share(self.memory.saturating_sub(before.memory), all),
            io: share(self.io.saturating_sub(before.io), all),
            steal: share(self.time.stolen.saturating_sub(before.time.stolen), ticks),
        }
    }
}

/// Of no time, nothing. Counters are brought up to date now and then: more than all of a short time is all of it.
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { (part as f64 / all as f64).min(1.0) }
}

/// The microseconds of the line `some` of a file below `/proc/pressure`: Documentation/accounting/psi.rst.
pub(super) fn waited(text: &str) -> u64 {
    let some = text.lines().find_map(|line| line.strip_prefix("some ")).unwrap_or_default();
    some.split_whitespace().find_map(|field| field.strip_prefix("total=")?.parse().ok()).unwrap_or_default()
}

/// The first line of proc_stat(5).
pub(super) fn cpu_time(text: &str) -> CpuTime {
    /// user, nice, system, idle, iowait, irq, softirq and steal; the time of guests is part of the first two.
    const FIELDS: usize = 8;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let fields: Vec<u64> =
        line.split_whitespace().take(FIELDS).map(|field| field.parse().unwrap_or_default()).collect();
    CpuTime {
        total: fields.iter().copied().fold(0, u64::saturating_add),
        stolen: fields.get(FIELDS - 1).copied().unwrap_or_default(),
    }
}

/// The first figure of proc_loadavg(5).
pub(super) fn load(text: &str) -> f64 {
    let first = text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    first.filter(|load| load.is_finite() && *load >= 0.0).unwrap_or_default()
}

/// The mean in MHz of files that hold one number each, in kHz.
pub(super) fn frequency_mhz(texts: &[String]) -> Option<u32> {
    let all: Vec<u32> = texts.iter().filter_map(|text| text.trim().parse().ok()).collect();
    let sum: u64 = all.iter().copied().map(u64::from).sum();
    u32::try_from(sum.checked_div(all.len() as u64)? / 1000).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRESSURE: &str = "some avg10=72.78 avg60=86.63 avg300=47.68 total=15789536509\n\
                            full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
    const STAT: &str = "cpu  3305441 1143587 620717 1928473 15867 0 4986 5113 11 2\n\
                        cpu0 1636081 572331 302347 994019 4466 0 357 2583 0 0\nintr 5 1\n";

    #[test]
    fn files_of_a_host_are_understood() {
        assert_eq!(waited(PRESSURE), 15_789_536_509);
        assert_eq!(cpu_time(STAT), CpuTime { total: 7_024_184, stolen: 5113 });
        assert_eq!(load("5.73 3.41 2.05 1/87 547\n"), 5.73);
        assert_eq!(frequency_mhz(&["2400000\n".into(), "3600999\n".into()]), Some(3000));
    }

    #[test]
    fn what_is_missing_is_nothing() {
        assert_eq!((waited(""), cpu_time(""), load("")), (0, CpuTime::default(), 0.0));
        assert_eq!(frequency_mhz(&[]), None);
        assert_eq!(frequency_mhz(&["<unknown>\n".into()]), None);
        // Before Linux 2.6.11 there was no steal.
        assert_eq!(cpu_time("cpu  1 2 3 4 5 6 7\n"), CpuTime { total: 28, stolen: 0 });
    }

    #[test]
    fn shares_are_those_of_the_time_between() {
        let time = |total, stolen| CpuTime { total, stolen };
        let before = Accounts { cpu: 1000, memory: 5, io: 0, time: time(1000, 10) };
        let after = Accounts { cpu: 251_000, memory: 5, io: 9_000_000, time: time(1200, 60) };
        let shares = after.since(&before, Duration::from_secs(1));
        assert_eq!(shares, Shares { cpu: 0.25, memory: 0.0, io: 1.0, steal: 0.25 });
        let nothing = Shares { cpu: 0.0, memory: 0.0, io: 0.0, steal: 0.0 };
        assert_eq!(before.since(&before, Duration::ZERO), nothing);
        assert_eq!(before.since(&after, Duration::from_secs(1)), nothing);
    }

    proptest! {
        #[test]
        fn no_text_gives_a_share_that_is_none(texts: [String; 4], seconds in 0..100_u64) {
            let accounts = |text: &str| Accounts { cpu: waited(text), memory: waited(text), io: 0, time: cpu_time(text) };
            let shares = accounts(&texts[0]).since(&accounts(&texts[1]), Duration::from_secs(seconds));
            for share in [shares.cpu, shares.memory, shares.io, shares.steal] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!(load(&texts[2]) >= 0.0);
            prop_assert!(frequency_mhz(&texts).is_none_or(|mhz| mhz <= u32::MAX / 1000));
        }

        #[test]
        fn figures_survive_whatever_stands_around_them(total: u64, before in "[a-rt-z0-9= \n]{0,40}", stat: [u32; 10]) {
            let pressure = format!("{before}\nsome avg10=0.00 total={total}\nfull total=1");
            prop_assert_eq!(waited(&pressure), total);
            let fields = stat.map(|field| field.to_string()).join(" ");
            let time = CpuTime { total: stat[..8].iter().copied().map(u64::from).sum(), stolen: stat[7].into() };
            prop_assert_eq!(cpu_time(&format!("cpu  {fields}\n{before}")), time);
        }
    }
}
