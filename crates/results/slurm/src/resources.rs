//! What a job asks for.

use std::time::Duration;

use lab::Prepared;
use lab::request::RunPolicy;
use ledger::Durations;

/// What a machine takes beside the memory of its guest, in MiB: QEMU and what it has translated.
const MACHINE_MIB: u64 = 128;

/// What kiln itself takes, in MiB.
const KILN_MIB: u64 = 512;

/// Time to fetch a kernel and to boot it on a slow node.
const START: Duration = Duration::from_secs(15 * 60);

/// Nobody waits longer for one session.
const WORK_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How many times slower than here a node may be.
const SLOWER: u32 = 3;

/// Cores, memory and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// CPUs.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Time limit.
    pub time: Duration,
}

impl Resources {
    /// What a session takes whose cases are run like this, and that has one machine at a time unless the policy says more: what cases took
    /// before, and up to their time limits where that is not known.
    #[must_use]
    pub fn of(prepared: &Prepared, policy: &RunPolicy, durations: &Durations) -> Self {
        let machines = u32::from(policy.jobs.unwrap_or(1));
        let cpus = prepared.specs.iter().map(|spec| spec.cpus).max().unwrap_or(1);
        let guest_mib = prepared.specs.iter().map(|spec| spec.memory_mib).max().unwrap_or(0);
        let items = prepared.plans.iter().flat_map(|plan| &plan.items).filter(|item| item.skip.is_none());
        let each = items.map(|item| durations.of(&item.name).unwrap_or(item.limit));
        let work =
            each.fold(Duration::ZERO, Duration::saturating_add).saturating_mul(policy.repeat.unwrap_or(1));
        Self {
            cpus: cpus.saturating_mul(machines),
            // The template is one more.
            memory_mib: guest_mib
                .saturating_add(MACHINE_MIB)
                .saturating_mul(u64::from(machines) + 1)
                .saturating_add(KILN_MIB),
            time: work.saturating_mul(SLOWER).checked_div(machines).unwrap_or_default().min(WORK_MAX) + START,
        }
    }

    /// Enough for both.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            cpus: self.cpus.max(other.cpus),
            memory_mib: self.memory_mib.max(other.memory_mib),
            time: self.time.max(other.time),
        }
    }

    /// What a job is given whose time or memory may have been too little so often.
    pub(crate) fn after(self, attempts: u32) -> Self {
        let times = 1 << attempts.min(4);
        Self { memory_mib: self.memory_mib.saturating_mul(times.into()), time: self.time * times, ..self }
    }

    /// As options of sbatch.
    pub(crate) fn options(self) -> [String; 3] {
        let minutes = self.time.as_secs().div_ceil(60);
        [
            format!("--cpus-per-task={}", self.cpus),
            format!("--mem={}M", self.memory_mib),
            format!("--time={minutes}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_asks_for_the_most_of_its_jobs() {
        let small = Resources { cpus: 1, memory_mib: 2048, time: Duration::from_secs(61) };
        let long = Resources { cpus: 2, memory_mib: 512, time: Duration::from_secs(60) };
        assert_eq!(small.after(1), Resources { cpus: 1, memory_mib: 4096, time: Duration::from_secs(122) });
        assert_eq!(small.max(long).options(), ["--cpus-per-task=2", "--mem=2048M", "--time=2"]);
    }
}
