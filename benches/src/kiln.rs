//! kiln as a user starts it.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use kernel::Store;
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
    /// How many cases.
    pub(crate) cases: f64,
}

/// The program, as cargo leaves it.
pub(crate) const PROGRAM: &str = "target/release/kiln";

/// The source of small kernels, and what makes them small.
pub(crate) const SOURCE: &str = "deb-source:6.1";
pub(crate) const CONFIGURATION: &str = "tiny";

/// What `kiln build` prints, from exec to exit.
pub(crate) fn build(source: &str, more: &[&str]) -> Result<String> {
    let mut command = Command::new(PROGRAM);
    command.args(["build", source, "--config", CONFIGURATION]).args(more);
    let output = command.stdin(Stdio::null()).output().context(PROGRAM)?;
    ensure!(output.status.success(), "kiln build: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a program to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

impl Kiln {
    /// kiln with the kernel of `KILN_BENCH_KERNEL`, else Debian's newest for clouds.
    pub(crate) fn new() -> Result<Self> {
        let locator = std::env::var("KILN_BENCH_KERNEL").unwrap_or_else(|_| "deb:latest-cloud".to_string());
        Ok(Self { locator, results: tempfile::tempdir()? })
    }

    /// kiln with the smallest kernel of Debian's source, built for this architecture first if it is not kept.
    pub(crate) fn of_source(arch: &str) -> Result<Self> {
        let output = build(SOURCE, &["--arch", arch])?;
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

    /// The same, without a machine that an earlier run has kept.
    pub(crate) fn run_afresh(&self, arguments: &[&str]) -> Result<()> {
        let templates = Store::default_dir().join("templates");
        if templates.exists() {
            std::fs::remove_dir_all(&templates).with_context(|| templates.display().to_string())?;
        }
        self.run(arguments)
    }

    /// A run that writes its events as JSON, with what programs write.
    pub(crate) fn events(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.args(["-v", "--format", "json"]).arg("--results").arg(self.results.path());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The kernel's locator.
    pub(crate) fn locator(&self) -> &str {
        &self.locator
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
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let cases = text.lines().filter(|line| line.starts_with("case ")).count() as f64;
        Ok(Plan {
            command: fact("command ")?,
            kernel: fact("kernel ")?,
            machine: fact("machine ")?,
            initramfs_kib,
            cases,
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(["run", &self.locator]).args(arguments);
        command
    }
}
