//! Small programs in C.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Compiles `source` to the static program `name` in `directory`.
pub(crate) fn compile(directory: &Path, name: &str, source: &str, options: &[&str]) -> Result<PathBuf> {
    let (file, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&file, source)?;
    let mut cc = Command::new("cc");
    cc.args(["-static", "-Os", "-s"]).args(options).arg("-o").arg(&program).arg(&file);
    ensure!(cc.status().context("cc")?.success(), "cc -static failed: install gcc and libc6-dev");
    Ok(program)
}
