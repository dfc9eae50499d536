//! The CPU time of each test: `cargo xtask measured RECORD PROGRAM ARGUMENTS` runs a test for cargo-nextest and
//! notes what it took, and [`judge`] says which took too much.
//!
//! A test starts programs that start programs: its CPU time is that of all of them. The kernel counts it for who
//! waits for them, so those whose parents die first are made children of the runner.

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use crate::cpu;

/// CPU time that a single test should not take.
pub(crate) const TEST_MAX: Duration = Duration::from_secs(60);

/// How much more CPU time the same test may take on a host whose cores and caches others use too. One test took 39 s
/// on an idle host and 61 s on such a one.
const BUSY_HOST: u32 = 2;

/// CPU time that all tests together should not take.
pub(crate) const ALL_MAX: Duration = Duration::from_secs(10 * 60);

/// A test and its CPU time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Its program and its name in there.
    pub(crate) test: String,
    /// That of all its processes.
    pub(crate) cpu: Duration,
}

/// Runs a test, and adds a line to the record.
pub(crate) fn run(record: &str, command: &[&str]) -> Result<ExitCode> {
    let [program, arguments @ ..] = command else { bail!("nothing to run") };
    set_child_subreaper(Some(getpid())).context("PR_SET_CHILD_SUBREAPER")?;
    let child = Command::new(program).args(arguments).spawn().with_context(|| program.to_string())?;
    let code = wait_for(child.id())?;
    // cargo-nextest also asks for the names of the tests this way.
    if let Some(name) = arguments.iter().skip_while(|word| **word != "--exact").nth(1) {
        note(Path::new(record), program, name).with_context(|| record.to_string())?;
    }
    Ok(code)
}

/// Waits for a child, and for all orphans that are dead by then.
fn wait_for(child: u32) -> Result<ExitCode> {
    let mut ended = None;
    loop {
        let options = if ended.is_some() { WaitOptions::NOHANG } else { WaitOptions::empty() };
        match wait(options) {
            Ok(Some((id, status))) if id.as_raw_nonzero().get().unsigned_abs() == child => {
                ended = Some(exit_code(status));
            }
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => return ended.context("the test cannot be waited for"),
        }
    }
}

/// What a shell says of a program that was ended by a signal.
fn exit_code(status: WaitStatus) -> ExitCode {
    let code = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Tests end at the same time: a line is one call of write(2).
fn note(record: &Path, program: &str, name: &str) -> Result<()> {
    let program = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    // cargo adds a hash to the names of its programs.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let line = format!("{} {program} {name}\n", cpu::of_children()?.as_millis());
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(record)?;
    Ok(file.write_all(line.as_bytes())?)
}

/// The tests of a record, the most expensive first.
pub(crate) fn read(record: &str) -> Result<Vec<Measured>> {
    let tests: Option<Vec<Measured>> = record.lines().map(measured).collect();
    let mut tests = tests.context("the record of tests has another form")?;
    tests.sort_by(|a, b| b.cpu.cmp(&a.cpu).then_with(|| a.test.cmp(&b.test)));
    Ok(tests)
}

fn measured(line: &str) -> Option<Measured> {
    let (milliseconds, test) = line.split_once(' ')?;
    Some(Measured { test: test.to_string(), cpu: Duration::from_millis(milliseconds.parse().ok()?) })
}

/// Warnings of tests that took long, each by itself or all together; an error names those that no host explains.
pub(crate) fn judge(tests: &[Measured]) -> Result<Vec<String>> {
    let limit = TEST_MAX * BUSY_HOST;
    if let Some(slow) = slower(tests, limit) {
        bail!("tests that take more than {} s of CPU: {slow}", limit.as_secs());
    }
    let each = slower(tests, TEST_MAX)
        .map(|slow| format!("warning: tests that took more than {} s of CPU: {slow}", TEST_MAX.as_secs()));
    let all: Duration = tests.iter().map(|test| test.cpu).sum();
    let together = (all > ALL_MAX).then(|| {
        let (all, most) = (all.as_secs(), ALL_MAX.as_secs());
        format!("warning: all tests together took {all} s of CPU, more than {most} s")
    });
    Ok(each.into_iter().chain(together).collect())
}

/// The tests that took more than this, if there are any.
fn slower(tests: &[Measured], limit: Duration) -> Option<String> {
    let slow: Vec<String> = tests.iter().filter(|test| test.cpu > limit).map(ToString::to_string).collect();
    (!slow.is_empty()).then(|| slow.join(", "))
}

impl std::fmt::Display for Measured {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} {:.1} s", self.test, self.cpu.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_slow_test_is_an_error_and_many_short_ones_a_warning() {
        let record = |line: &str, count: usize| read(&format!("{line}\n").repeat(count)).unwrap();
        assert_eq!(judge(&record("60000 kiln a::b", 10)).unwrap(), Vec::<String>::new());
        let error = judge(&record("120010 kiln a::b", 1)).unwrap_err();
        assert_eq!(error.to_string(), "tests that take more than 120 s of CPU: kiln a::b 120.0 s");
        let slow = "warning: tests that took more than 60 s of CPU: kiln a::b 120.0 s";
        assert_eq!(judge(&record("120000 kiln a::b", 1)).unwrap(), [slow]);
        let all = "warning: all tests together took 660 s of CPU, more than 600 s";
        assert_eq!(judge(&record("60000 kiln a::b", 11)).unwrap(), [all]);
    }

    #[test]
    fn the_most_expensive_test_comes_first() {
        let tests = read("10 a b\n2000 c d::e\n").unwrap();
        assert_eq!(tests[0], Measured { test: "c d::e".into(), cpu: Duration::from_secs(2) });
        assert!(read("nonsense\n").is_err());
    }
}
