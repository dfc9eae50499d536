//! What a clone takes in memory, seen from outside while kiln works.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::kiln::Kiln;

/// Clones at a time where there are more than one.
const JOBS: &str = "5";

/// Memory in MiB.
pub(crate) struct Memory {
    /// A machine that was booted.
    booted: f64,
    /// One more clone.
    pub(crate) clone: f64,
}

impl Memory {
    /// Runs `case` in a booted machine, and in one and several clones at a time.
    pub(crate) fn measure(kiln: &Kiln, case: &[&str]) -> Result<Self> {
        let peaks = |more: &[&str]| Peaks::watch(kiln.quiet(&[case, more].concat()));
        let (_, booted) = peaks(&["--isolation", "suite"])?.of_most()?;
        // The machine that they are cloned from is booted here.
        peaks(&[])?;
        let one = peaks(&["--repeat", "30", "-j", "1"])?.of_one()?;
        let (count, several) = peaks(&["--repeat", "100", "-j", JOBS])?.of_most()?;
        ensure!(count > 1, "no two clones were seen at a time");
        Ok(Self { booted, clone: (several - one) / f64::from(count - 1) })
    }

    /// One more clone against a booted machine.
    pub(crate) fn ratio(&self) -> f64 {
        self.clone / self.booted
    }
}

/// How often the machines are looked at.
const INTERVAL: Duration = Duration::from_millis(10);

/// The most memory that so many machines took together at any time, in KiB: each page that several share counts once
/// (`Pss` of proc_pid_smaps(5)). The next clone may start before the last has ended, whatever the number of jobs.
#[derive(Default)]
struct Peaks(BTreeMap<u32, u64>);

impl Peaks {
    /// Watches the machines of `kiln` to its end.
    fn watch(mut kiln: Command) -> Result<Self> {
        let mut kiln = kiln.spawn().context("kiln")?;
        let mut peaks = Self::default();
        let status = loop {
            peaks.see(&machines_kib(&kiln));
            match kiln.try_wait()? {
                Some(status) => break status,
                None => sleep(INTERVAL),
            }
        };
        ensure!(status.success(), "kiln ended with {status}");
        Ok(peaks)
    }

    fn see(&mut self, machines: &[u64]) {
        let Some(count) = u32::try_from(machines.len()).ok().filter(|&count| count > 0) else { return };
        let peak = self.0.entry(count).or_default();
        *peak = machines.iter().sum::<u64>().max(*peak);
    }

    /// What a machine takes alone, in MiB.
    fn of_one(&self) -> Result<f64> {
        self.0.get(&1).map(|&kib| mib(kib)).context("no machine was seen alone")
    }

    /// The most machines that were seen, and what they take in MiB.
    fn of_most(&self) -> Result<(u32, f64)> {
        self.0.last_key_value().map(|(&count, &kib)| (count, mib(kib))).context("no machine was seen")
    }
}

#[expect(clippy::cast_precision_loss, reason = "less than a TiB")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

/// What each machine takes: they are children of one of its threads.
fn machines_kib(kiln: &Child) -> Vec<u64> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", kiln.id())).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(pss_kib).collect::<Vec<_>>()).collect()
}

/// One that has ended meanwhile takes nothing.
fn pss_kib(id: &str) -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc").join(id).join("smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_each_number_of_machines_is_kept() {
        let mut peaks = Peaks::default();
        for machines in [&[][..], &[1024], &[2048, 1024], &[512], &[1024, 1024]] {
            peaks.see(machines);
        }
        assert!((peaks.of_one().unwrap() - 1.0).abs() < 1e-9);
        let (count, several) = peaks.of_most().unwrap();
        assert!(count == 2 && (several - 3.0).abs() < 1e-9);
        assert!(Peaks::default().of_most().is_err());
    }
}
