//! kiln as a user starts it.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// The kiln under test, with its results in a folder that goes away.
pub(crate) struct Kiln {
    locator: String,
    results: TempDir,
}

/// What `kiln run --dry-run` says.
pub(crate) struct Plan {
    /// QEMU's command line.
    pub(crate) command: String,
    /// Which kernel, in words.
    pub(crate) kernel: String,
    /// Which machine, in words.
    pub(crate) machine: String,
    /// Size of the initramfs.
    pub(crate) initramfs_kib: f64,
}

const PROGRAM: &str = "target/release/kiln";

/// What `kiln build` prints, from exec to exit.
pub(crate) fn build(arch: &str) -> Result<String> {
    let mut command = Command::new(PROGRAM);
    command.args(["build", "deb-source:6.1", "--config", "tiny", "--arch", arch]);
    let output = command.stdin(Stdio::null()).output().context(PROGRAM)?;
    ensure!(output.status.success(), "kiln build: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

impl Kiln {
    /// kiln with the kernel of `KILN_BENCH_KERNEL`, else Debian's newest for clouds.
    pub(crate) fn new() -> Result<Self> {
        let locator = std::env::var("KILN_BENCH_KERNEL").unwrap_or_else(|_| "deb:latest-cloud".to_string());
        Ok(Self { locator, results: tempfile::tempdir()? })
    }

    /// kiln with the smallest kernel of Debian's source, built for this architecture first if it is not kept.
    pub(crate) fn of_source(arch: &str) -> Result<Self> {
        let output = build(arch)?;
        Ok(Self { locator: output.trim().to_string(), results: tempfile::tempdir()? })
    }

    /// Runs from exec to exit. A verdict other than all well is a failure: it measures something else.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<()> {
        let mut command = self.command(arguments);
        let output = command.arg("--results").arg(self.results.path()).stdin(Stdio::null()).output();
        let output = output.context(PROGRAM)?;
        ensure!(
            output.status.success(),
            "kiln run {arguments:?} ended with {}:\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    /// What a run would do.
    pub(crate) fn plan(&self, arguments: &[&str]) -> Result<Plan> {
        let output = self.command(arguments).arg("--dry-run").output().context(PROGRAM)?;
        if !output.status.success() {
            bail!("kiln run --dry-run: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = String::from_utf8(output.stdout)?;
        let fact = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.map(|line| line.trim().to_string()).with_context(|| format!("--dry-run shows no {name}"))
        };
        let size = fact("initramfs ")?;
        let initramfs_kib = size.trim_end_matches(" KiB").parse().context("size of the initramfs")?;
        Ok(Plan {
            command: fact("command ")?,
            kernel: fact("kernel ")?,
            machine: fact("machine ")?,
            initramfs_kib,
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(["run", &self.locator]).args(arguments);
        command
    }
}
