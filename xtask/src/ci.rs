//! All that must pass before a change lands, step by step; the first failure ends it.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::program::{cargo, output, program, root, succeed};
use crate::step::{Cost, Step};
use crate::{dependencies, fuzz, manual, suite, tidy};

/// Cheap ones first, so that a small mistake shows at once.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::new("format", format),
        Step::new("tidy", tidy::tidy),
        Step::new("clippy", clippy),
        Step::new("dependencies", dependencies::check),
        Step::new("documentation", documentation),
        Step::new("fuzz targets", fuzz::check),
        Step::new("build", suite::build),
        Step::new("generated pages", manual::check),
        Step::new("tests", suite::run),
    ]
}

/// All that must pass before a change lands.
pub(crate) fn ci() -> Result<()> {
    let before = changes()?;
    let mut took = Vec::new();
    for step in steps() {
        took.push((step.name.clone(), step.run()?));
    }
    unchanged_since(&before)?;
    let all = took.iter().fold(Cost::default(), |all, (_, cost)| all + *cost);
    let steps: Vec<String> = took.iter().map(|(name, cost)| format!("{name} {cost}")).collect();
    println!("\n{}; {}", steps.join(", "), suite::slowest()?);
    println!("all passed in {all}");
    Ok(())
}

/// What git sees as changed or new.
pub(crate) fn changes() -> Result<String> {
    let status = output(&mut program("git", &["status", "--porcelain"]))?;
    // What was changed before may be changed again: its content counts.
    Ok(status + &output(&mut program("git", &["diff", "HEAD"]))?)
}

/// Fails if a step changed what git sees.
pub(crate) fn unchanged_since(before: &str) -> Result<()> {
    if changes()? != before {
        bail!("a step changed files that git follows, or left new ones: see `git status`");
    }
    Ok(())
}

fn format() -> Result<()> {
    succeed(&mut cargo(&["fmt", "--all", "--check"]))?;
    let folder = root().join("fuzz/fuzz_targets");
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        is_formatted(&entry?.path())?;
    }
    Ok(())
}

/// On standard input, since rustfmt looks for modules of tests where those of a fuzz target are not. There it
/// succeeds even where it shows differences.
fn is_formatted(path: &Path) -> Result<()> {
    let mut format = program("rustfmt", &["--edition", "2024", "--check"]);
    let differences = output(format.stdin(File::open(path)?)).with_context(|| path.display().to_string())?;
    ensure!(differences.is_empty(), "{}: {differences}", path.display());
    Ok(())
}

fn clippy() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    succeed(&mut cargo(&arguments))
}

/// The pages are for those who work on kiln: they show private items, and may link to them.
fn documentation() -> Result<()> {
    const FLAGS: &str = "-D warnings -A rustdoc::private_intra_doc_links";
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked", "--quiet"];
    succeed(cargo(&arguments).env("RUSTDOCFLAGS", FLAGS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_formatted_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("target.rs");
        std::fs::write(&file, "fn main() {}\n").unwrap();
        is_formatted(&file).unwrap();
        std::fs::write(&file, "fn main( ) {}\n").unwrap();
        let error = is_formatted(&file).unwrap_err().to_string();
        assert!(error.contains("target.rs: Diff in"), "{error}");
    }
}
