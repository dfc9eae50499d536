//! Unit, property and snapshot tests, those that boot kernels, and those that take long.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::measured::{self, Measured};
use crate::program::{cargo, program, root, succeed, works};

/// How many tests are named as the slowest.
const SLOWEST: usize = 10;

/// Cases of each property test in `cargo xtask proof`; 256 elsewhere.
const MANY_CASES: &str = "2560";

/// Tests that take too long even for `cargo xtask proof`.
const CONFIGURATIONS: &str = "configurations::all_";

/// How the names of tests begin that compare speeds or times, beside which nothing may run.
const COMPARISONS: &str = "compared_with_";

/// How the names of tests begin that run LTP; the name of a kernel comes next.
const LTP: &str = "ltp::ltp_on_";

/// Builds all tests, and the programs that they call.
pub(crate) fn build() -> Result<()> {
    succeed(&mut cargo(&["test", "--workspace", "--locked", "--no-run", "--quiet"]))
}

/// Builds the kernel that long tests share, with the kiln of the tests.
pub(crate) fn build_kernel() -> Result<()> {
    let mut build = program("target/debug/kiln", &["build", "deb-source:6.1", "--config", "tiny"]);
    succeed(beside_tests(&mut build)?)
}

/// Has `command` use the packages and builds that the tests fetch and make.
pub(crate) fn beside_tests(command: &mut Command) -> Result<&mut Command> {
    let temporary = root().canonicalize()?.join("target/tmp");
    Ok(command.env("XDG_CACHE_HOME", temporary.join("cache")).env("XDG_STATE_HOME", temporary.join("state")))
}

/// Runs all tests but those that take long.
pub(crate) fn run() -> Result<()> {
    let _ = std::fs::remove_file(record());
    if !has_nextest() {
        println!("without cargo-nextest the CPU time of single tests is not judged");
        return test(&["--workspace", "--no-fail-fast"]);
    }
    // nextest leaves out the examples in the documentation.
    succeed(&mut cargo(&["test", "--workspace", "--doc", "--locked", "--quiet"]))?;
    let runner = format!("target.'cfg(unix)'.runner = {}", runner()?);
    nextest(&["--config", &runner])?;
    for warning in measured::judge(&tests()?)? {
        println!("{warning}");
    }
    Ok(())
}

/// Tests marked `#[ignore]`: too long for every change. Comparisons and LTP are steps of their own. Only nextest can run a part of
/// them: without, all are run as the first.
pub(crate) fn run_long(part: u32, parts: u32) -> Result<()> {
    if has_nextest() {
        let filter = format!("not test(/^({CONFIGURATIONS}|{LTP})|(^|::){COMPARISONS}/)");
        let partition = format!("count:{part}/{parts}");
        return nextest(&["--run-ignored", "only", "--filterset", &filter, "--partition", &partition]);
    }
    if part > 1 {
        return Ok(());
    }
    let skipped = ["--skip", CONFIGURATIONS, "--skip", LTP, "--skip", COMPARISONS];
    test(&[&["--workspace", "--no-fail-fast", "--tests", "--", "--ignored"][..], &skipped].concat())
}

/// Compares the instruments with other programs and with what is known to be true, one after the other.
pub(crate) fn run_comparisons() -> Result<()> {
    let alone = ["--", "--ignored", "--nocapture", "--test-threads", "1", COMPARISONS];
    let parts: [&[&str]; 2] = [
        &["--package", "latency", "--package", "steal", "--tests", "--release"],
        &["--workspace", "--test", "command"],
    ];
    for part in parts {
        succeed(&mut cargo(&[&["test", "--locked"], part, &alone].concat()))?;
    }
    Ok(())
}

/// The tests of LTP on the kernels whose names in those of tests begin so: each takes half an hour.
pub(crate) fn run_ltp(kernels: &str) -> Result<()> {
    let name = format!("{LTP}{kernels}");
    if has_nextest() {
        return nextest(&["--run-ignored", "only", "--filterset", &format!("test(/^{name}/)")]);
    }
    test(&["--package", "kiln", "--no-fail-fast", "--", "--ignored", &name])
}

/// Builds the configurations that users are advised to build, and plants faults in them.
pub(crate) fn run_configurations() -> Result<()> {
    if has_nextest() {
        return nextest(&["--run-ignored", "only", "--filterset", &format!("test(/^{CONFIGURATIONS}/)")]);
    }
    test(&["--package", "kiln", "--no-fail-fast", "--", "--ignored", CONFIGURATIONS])
}

fn has_nextest() -> bool {
    works(&mut cargo(&["nextest", "--version"]))
}

/// Two machines at a time; nextest has this in .config/nextest.toml.
fn test(more: &[&str]) -> Result<()> {
    let mut command = cargo(&[&["test", "--locked"], more].concat());
    succeed(quiet(command.env("RUST_TEST_THREADS", "2")))
}

fn nextest(more: &[&str]) -> Result<()> {
    let run = ["nextest", "run", "--workspace", "--locked", "--profile", "ci"];
    let mut command = cargo(&[&run, more].concat());
    if is_root() {
        // Root has all that tests need: one that is skipped has not been run by mistake.
        command.env("KILN_SKIP_NOTHING", "1");
    }
    succeed(quiet(&mut command))
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Property tests with many cases.
pub(crate) fn run_many_cases() -> Result<()> {
    let mut test = cargo(&["test", "--workspace", "--lib", "--locked"]);
    succeed(quiet(test.env("PROPTEST_CASES", MANY_CASES)))
}

/// The tests that took most CPU time in the last run.
pub(crate) fn slowest() -> Result<String> {
    let tests = tests()?;
    if tests.is_empty() {
        return Ok("which tests are slow is not known".to_string());
    }
    let names: Vec<String> = tests.iter().take(SLOWEST).map(ToString::to_string).collect();
    Ok(format!("slowest tests by CPU time: {}", names.join(", ")))
}

/// Snapshots are never written here.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("INSTA_UPDATE", "no")
}

/// The program that measures tests, as TOML: a copy of this one, which building all tests may have replaced.
fn runner() -> Result<String> {
    let copy = root().join("target/measurer");
    std::fs::copy("/proc/self/exe", &copy).with_context(|| copy.display().to_string())?;
    let words = [copy, "measured".into(), record()];
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    // A string of JSON is one of TOML.
    Ok(serde_json::to_string(&words.context("a path is not UTF-8")?)?)
}

/// Where the CPU time of each test is noted.
fn record() -> PathBuf {
    root().join("target/tests-measured")
}

fn tests() -> Result<Vec<Measured>> {
    let record: &Path = &record();
    if !record.exists() {
        return Ok(Vec::new());
    }
    measured::read(&std::fs::read_to_string(record).with_context(|| record.display().to_string())?)
}
