//! Which CPUs this process may use: sched_setaffinity(2).

use harness::instrument::{broken, skip};
use protocol::Report;
use protocol::steal::CPUS_MAX;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Where the victim runs and where everything else of the instrument does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) victim: u32,
    /// The same CPU if there is no other one.
    pub(crate) others: u32,
}

impl Placement {
    /// The CPU that was asked for, or the last one, and the first of all others. This process leaves the CPU of the victim.
    ///
    /// # Errors
    ///
    /// When this process may not use the CPU that was asked for.
    pub(crate) fn take(wanted: Option<u32>) -> Result<Self, Report> {
        let set = sched_getaffinity(None).map_err(|error| broken(format!("sched_getaffinity: {error}")))?;
        let allowed: Vec<u32> = (0..CPUS_MAX).filter(|cpu| set.is_set(*cpu as usize)).collect();
        let placement = choose(&allowed, wanted).map_err(skip)?;
        pin(placement.others).map_err(|error| broken(format!("CPU {}: {error}", placement.others)))?;
        Ok(placement)
    }
}

fn choose(allowed: &[u32], wanted: Option<u32>) -> Result<Placement, String> {
    let last = *allowed.last().ok_or("there is no CPU that this process may use")?;
    let victim = wanted.unwrap_or(last);
    if !allowed.contains(&victim) {
        let names: Vec<String> = allowed.iter().map(u32::to_string).collect();
        return Err(format!(
            "CPU {victim} is not there or not for this process: use one of {}",
            names.join(", ")
        ));
    }
    let others = allowed.iter().copied().find(|cpu| *cpu != victim).unwrap_or(victim);
    Ok(Placement { victim, others })
}

/// Lets the calling thread run on one CPU only.
///
/// # Errors
///
/// `EINVAL` when there is no such CPU or a cpuset excludes it.
pub(crate) fn pin(cpu: u32) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cpu_is_for_the_victim_and_another_for_the_rest() {
        assert_eq!(choose(&[0, 1, 2], None), Ok(Placement { victim: 2, others: 0 }));
        assert_eq!(choose(&[0, 1, 2], Some(0)), Ok(Placement { victim: 0, others: 1 }));
        assert_eq!(choose(&[3], None), Ok(Placement { victim: 3, others: 3 }));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named_with_those_that_are() {
        let why = choose(&[0, 2], Some(1)).expect_err("it is not there");
        assert_eq!(why, "CPU 1 is not there or not for this process: use one of 0, 2");
        assert!(choose(&[], None).is_err());
    }
}
