//! What `stress` is asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most workers of one request.
pub const WORKERS_MAX: u32 = 4096;

/// No CPU has this number or a higher one.
pub const CPUS_MAX: u32 = 8192;

/// How long workers have, unless a request says another time, to come to an end after they were asked to.
pub const GRACE_MS: u64 = 2000;

/// Stressors to run, and under which conditions. Fields that are left out have the values of `Default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct StressRequest {
    /// What runs; the same stressor may appear several times.
    pub instances: Vec<Instance>,
    /// All at once, or one after the other.
    pub mode: Mode,
    /// How long they run, each of them in [`Mode::Sequential`], in milliseconds; nothing: until each has done its
    /// [`Instance::operations`], or SIGINT.
    pub timeout_ms: Option<u64>,
    /// How long a worker may take to end after it was asked to, in milliseconds; then it gets SIGTERM, and a second
    /// later SIGKILL.
    pub grace_ms: u64,
    /// Also verify what costs much: whole contents rather than results of calls.
    pub verify: bool,
    /// Options that are not given are at this end of their ranges.
    pub extreme: Option<Extreme>,
    /// The CPUs that workers may run on: sched_setaffinity(2); none: those of the caller.
    pub cpus: Vec<u32>,
    /// Scheduling policy of the workers.
    pub scheduler: Option<Scheduler>,
    /// Nice value of the workers, -20 to 19.
    pub nice: Option<i32>,
    /// Report thermal zones and throttling.
    pub thermal: bool,
    /// Report which code of the kernel the workers reach: [`super::Coverage`].
    pub coverage: bool,
    /// What the workers' random numbers come from: the same seed, the same numbers.
    pub seed: u64,
}

impl Default for StressRequest {
    fn default() -> Self {
        Self {
            instances: Vec::new(),
            mode: Mode::default(),
            timeout_ms: None,
            grace_ms: GRACE_MS,
            verify: false,
            extreme: None,
            cpus: Vec::new(),
            scheduler: None,
            nice: None,
            thermal: false,
            coverage: false,
            seed: 0,
        }
    }
}

impl StressRequest {
    /// Whether it can make sense on any machine.
    ///
    /// # Errors
    ///
    /// What is wrong, and what is allowed.
    pub fn validate(&self) -> Result<(), String> {
        let workers =
            self.instances.iter().map(|instance| instance.workers.max(1)).fold(0, u32::saturating_add);
        let priority = match self.scheduler {
            Some(Scheduler::Fifo(priority) | Scheduler::Rr(priority)) => priority,
            _ => 1,
        };
        let wrong = match () {
            () if self.instances.is_empty() => "it names no stressor".to_string(),
            () if workers > WORKERS_MAX => format!("{workers} workers, at most {WORKERS_MAX}"),
            () if self.nice.is_some_and(|nice| !(-20..=19).contains(&nice)) => {
                format!("nice {}: use -20 to 19", self.nice.unwrap_or_default())
            }
            () if !(1..=99).contains(&priority) => format!("priority {priority}: use 1 to 99"),
            () if self.cpus.iter().any(|cpu| *cpu >= CPUS_MAX) => {
                format!("there are no more than {CPUS_MAX} CPUs")
            }
            () => return Ok(()),
        };
        Err(wrong)
    }
}

/// A stressor with its workers and options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Instance {
    /// Name of the stressor.
    pub stressor: String,
    /// Its processes; 0 for one on each CPU that is on line.
    pub workers: u32,
    /// Options by name, as a user writes their values; the others have their defaults.
    pub options: BTreeMap<String, String>,
    /// After this many bogo operations, shared equally among the workers, it has done its work.
    pub operations: Option<u64>,
}

/// Whether instances share the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// All at once.
    #[default]
    Parallel,
    /// One after the other.
    Sequential,
}

/// An end of an option's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extreme {
    /// The lowest values; flags are off.
    Minimize,
    /// The highest values; flags are on. Sizes stay so small that the machine does not run out of memory, and operations
    /// come to an end.
    Maximize,
}

/// A scheduling policy: sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// `SCHED_OTHER`.
    Other,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_FIFO` with a priority from 1 to 99.
    Fifo(u8),
    /// `SCHED_RR` with a priority from 1 to 99.
    Rr(u8),
    /// `SCHED_DEADLINE`.
    Deadline {
        /// CPU time in each period, in nanoseconds.
        runtime_ns: u64,
        /// In nanoseconds from the start of a period.
        deadline_ns: u64,
        /// In nanoseconds.
        period_ns: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: impl FnOnce(&mut StressRequest)) -> Result<(), String> {
        let mut request = StressRequest::default();
        request.instances.push(Instance { stressor: "pipe".to_string(), ..Instance::default() });
        change(&mut request);
        request.validate()
    }

    #[test]
    fn a_wrong_request_says_what_is_allowed() {
        assert_eq!(changed(|_| ()), Ok(()));
        let wrong = |change: fn(&mut StressRequest)| changed(change).unwrap_err();
        assert_eq!(wrong(|it| it.instances.clear()), "it names no stressor");
        assert_eq!(wrong(|it| it.instances[0].workers = 5000), "5000 workers, at most 4096");
        assert_eq!(wrong(|it| it.nice = Some(20)), "nice 20: use -20 to 19");
        assert_eq!(wrong(|it| it.scheduler = Some(Scheduler::Fifo(0))), "priority 0: use 1 to 99");
        assert_eq!(wrong(|it| it.cpus = vec![8192]), "there are no more than 8192 CPUs");
        assert!(changed(|it| it.instances = vec![it.instances[0].clone(); 5000]).is_err());
    }
}
