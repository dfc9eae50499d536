//! What a clone takes in memory, seen from outside while kiln works.

use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::kiln::Kiln;

/// Clones at a time where there are more than one.
const JOBS: u8 = 5;

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
        let peak = |more: &[&str]| peak_mib(kiln.quiet(&[case, more].concat()));
        let booted = peak(&["--isolation", "suite"])?;
        // The machine that they are cloned from is booted here.
        peak(&[])?;
        let one = peak(&["--repeat", "30", "-j", "1"])?;
        let several = peak(&["--repeat", "100", "-j", &JOBS.to_string()])?;
        Ok(Self { booted, clone: (several - one) / f64::from(JOBS - 1) })
    }

    /// One more clone against a booted machine.
    pub(crate) fn ratio(&self) -> f64 {
        self.clone / self.booted
    }
}

/// How often the machines are looked at.
const INTERVAL: Duration = Duration::from_millis(10);

/// The most memory that all machines of `kiln` take at any time, in MiB: each page that several share counts once
/// (`Pss` of proc_pid_smaps(5)).
fn peak_mib(mut kiln: Command) -> Result<f64> {
    let mut kiln = kiln.spawn().context("kiln")?;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(machines_kib(&kiln));
        match kiln.try_wait()? {
            Some(status) => break status,
            None => sleep(INTERVAL),
        }
    };
    ensure!(status.success() && peak > 0, "kiln ended with {status}");
    #[expect(clippy::cast_precision_loss, reason = "less than a TiB")]
    let mib = peak as f64 / 1024.0;
    Ok(mib)
}

/// All machines are children of one of its threads.
fn machines_kib(kiln: &Child) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{}/task", kiln.id())).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(pss_kib).collect::<Vec<_>>()).sum()
}

/// One that has ended meanwhile takes nothing.
fn pss_kib(id: &str) -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc").join(id).join("smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
