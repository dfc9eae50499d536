//! What else happened on the host while something was timed.
//!
//! * [`accounts`]: what the kernel counts of waiting and of time that was taken away
//! * [`guests`]: other machines that run here

mod accounts;
mod guests;

use std::path::Path;
use std::time::Instant;

use accounts::{Accounts, frequency_mhz, load};
use serde::{Deserialize, Serialize};

/// Conditions of the host during one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Runnable processes at its end, averaged over a minute: the first figure of proc_loadavg(5).
    pub load: f64,
    /// The share of the time in which some process waited for a CPU, of 1: Documentation/accounting/psi.rst.
    pub cpu_pressure: f64,
    /// The same for memory.
    pub memory_pressure: f64,
    /// The same for block devices.
    pub io_pressure: f64,
    /// The share of CPU time that a hypervisor took away, of 1.
    pub steal: f64,
    /// The frequency of the CPUs at its end, in MHz, where the host tells it.
    pub frequency_mhz: Option<u32>,
    /// Other machines on this host at its end, which this process did not start.
    pub other_guests: u32,
}

impl Conditions {
    /// Begins to watch.
    #[must_use]
    pub fn watch() -> Watching {
        Watching { since: Instant::now(), before: read_accounts() }
    }
}

/// A sample that is being taken.
#[derive(Debug)]
pub struct Watching {
    since: Instant,
    before: Accounts,
}

impl Watching {
    /// What happened since the beginning. What this host does not tell is 0, or nothing.
    #[must_use]
    pub fn finish(self) -> Conditions {
        let shares = read_accounts().since(&self.before, self.since.elapsed());
        Conditions {
            load: load(&read("/proc/loadavg")),
            cpu_pressure: shares.cpu,
            memory_pressure: shares.memory,
            io_pressure: shares.io,
            steal: shares.steal,
            frequency_mhz: frequency_mhz(&read_frequencies()),
            other_guests: u32::try_from(guests::others(std::process::id()).len()).unwrap_or(u32::MAX),
        }
    }
}

fn read_accounts() -> Accounts {
    let pressure = |of: &str| accounts::waited(&read(format!("/proc/pressure/{of}")));
    Accounts {
        cpu: pressure("cpu"),
        memory: pressure("memory"),
        io: pressure("io"),
        time: accounts::cpu_time(&read("/proc/stat")),
    }
}

/// The files of all CPUs that have a frequency of their own: Documentation/admin-guide/pm/cpufreq.rst.
fn read_frequencies() -> Vec<String> {
    /// More than any host has.
    const MOST: usize = 8192;
    let policies = std::fs::read_dir("/sys/devices/system/cpu/cpufreq").into_iter().flatten().flatten();
    policies.take(MOST).map(|policy| read(policy.path().join("scaling_cur_freq"))).collect()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_of_this_host_are_within_their_ranges() {
        let conditions = Conditions::watch().finish();
        let Conditions { cpu_pressure, memory_pressure, io_pressure, steal, .. } = conditions;
        for share in [cpu_pressure, memory_pressure, io_pressure, steal] {
            assert!((0.0..=1.0).contains(&share), "{conditions:?}");
        }
        assert!(conditions.load >= 0.0 && conditions.load.is_finite(), "{conditions:?}");
    }

    #[test]
    fn what_is_not_there_is_empty() {
        assert_eq!(read("/proc/pressure/no-such-thing"), "");
    }
}
