//! `kiln compare` as a user starts it, with templates of its own.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use kernel::Store;
use tempfile::TempDir;
use verdict::Comparison;

use crate::kiln::PROGRAM;

/// What of the user's cache is no template.
const SHARED: [&str; 3] = ["deb", "index", "kvm"];

/// A place for comparisons. Its packages are the user's; its templates and results go away with it.
pub(crate) struct Place {
    cache: TempDir,
    results: TempDir,
}

impl Place {
    /// One without templates, on the same disk as the user's.
    pub(crate) fn new() -> Result<Self> {
        let users = Store::default_dir();
        std::fs::create_dir_all(&users).with_context(|| users.display().to_string())?;
        let cache =
            tempfile::Builder::new().prefix("kiln-bench-").tempdir_in(users.parent().unwrap_or(&users))?;
        let own = cache.path().join("kiln");
        std::fs::create_dir(&own)?;
        for name in SHARED.into_iter().filter(|name| users.join(name).exists()) {
            symlink(users.join(name), own.join(name))?;
        }
        Ok(Self { cache, results: tempfile::tempdir()? })
    }

    /// Forgets what earlier comparisons have kept.
    pub(crate) fn forget(&self) -> Result<()> {
        let templates = self.cache.path().join("kiln/templates");
        if templates.exists() {
            std::fs::remove_dir_all(&templates).with_context(|| templates.display().to_string())?;
        }
        Ok(())
    }

    /// Compares, from exec to exit.
    pub(crate) fn compare(&self, arguments: &[&str]) -> Result<Comparison> {
        let mut command = Command::new(PROGRAM);
        command.arg("compare").args(arguments).args(["--json", "--fail-on", "never", "--results"]);
        command.arg(self.results.path()).env("XDG_CACHE_HOME", self.cache.path());
        let output = command.stdin(Stdio::null()).output().context(PROGRAM)?;
        ensure!(
            output.status.success(),
            "kiln compare {arguments:?} ended with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).context("what kiln compare printed")
    }
}
