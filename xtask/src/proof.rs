//! What takes too long for every change: all of `ci`, long tests, fuzzing and the benchmark.
//!
//! The steps that passed are noted under the commit, so that an interrupted proof can go on, and its steps can run in any order. A tree
//! with changes has no name under which that could be noted.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::program::{cargo, output, program, root, succeed};
use crate::step::{Cost, Step};
use crate::{ci, dependencies, fuzz, suite};

/// Seconds of each fuzz target.
const FUZZ_SECONDS: u64 = 20;

/// Parts of the long tests, of a quarter of an hour each.
const LONG_PARTS: u32 = 6;

/// What takes longer than `ci` may.
fn more_steps() -> Vec<Step> {
    let first = [Step::new("cargo deny", dependencies::check_all), Step::new("kernel", suite::build_kernel)];
    // Each is noted by itself: an interruption costs a part.
    let long = (1..=LONG_PARTS).map(|part| {
        Step::new(format!("long tests, part {part} of {LONG_PARTS}"), move || {
            suite::run_long(part, LONG_PARTS)
        })
    });
    let last = [
        Step::new("property tests, many cases", suite::run_many_cases),
        Step::new("fuzzing", || fuzz::all(FUZZ_SECONDS)),
        Step::new("comparisons", suite::run_comparisons),
        Step::new("benchmark", bench_beside_tests),
        // `cargo xtask ltp` has other kernels, too: each takes half an hour, and a proof has to fit into a morning.
        Step::new("LTP", || suite::run_ltp("debian_12_")),
    ];
    first.into_iter().chain(long).chain(last).collect()
}

/// Runs all steps.
pub(crate) fn proof() -> Result<()> {
    let changes = ci::changes()?;
    let journal = Journal::of_commit(changes.is_empty())?;
    run(all_steps(), journal.begin()?, &journal, &changes)
}

/// Runs the steps that have not passed on this very commit: all of them, or those whose names begin with one of `only`.
pub(crate) fn resume(only: &[&str]) -> Result<()> {
    let changes = ci::changes()?;
    ensure!(changes.is_empty(), "a tree with changes cannot resume: commit them first");
    let journal = Journal::of_commit(true)?;
    run(select(all_steps(), only)?, journal.read()?, &journal, &changes)
}

fn all_steps() -> Vec<Step> {
    ci::steps().into_iter().chain(more_steps()).collect()
}

/// The steps whose names begin with one of `only`; all of them if that is empty.
fn select(steps: Vec<Step>, only: &[&str]) -> Result<Vec<Step>> {
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    if let Some(unknown) = only.iter().find(|begin| !names.iter().any(|name| name.starts_with(*begin))) {
        bail!("no step begins with {unknown:?}: there are {}", names.join("; "));
    }
    let is_wanted = |step: &Step| only.is_empty() || only.iter().any(|begin| step.name.starts_with(begin));
    Ok(steps.into_iter().filter(is_wanted).collect())
}

/// Runs those of `steps` that have not passed, on a tree with these changes.
fn run(steps: Vec<Step>, mut passed: Passed, journal: &Journal, changes: &str) -> Result<()> {
    for step in steps {
        if has_passed(&passed, &step.name) {
            println!("=== {} passed before", step.name);
            continue;
        }
        let cost = step.run()?;
        ci::unchanged_since(changes)?;
        passed.push((step.name, cost));
        journal.write(&passed)?;
    }
    print!("\n{}", table(&passed));
    let names = all_steps().into_iter().map(|step| step.name);
    let left: Vec<String> = names.filter(|name| !has_passed(&passed, name)).collect();
    if !left.is_empty() {
        println!("not whole yet; left: {}", left.join("; "));
    }
    Ok(())
}

fn has_passed(passed: &Passed, name: &str) -> bool {
    passed.iter().any(|(one, _)| one == name)
}

/// What kiln promises about its own speed and size.
pub(crate) fn bench(rounds: &[&str]) -> Result<()> {
    succeed(&mut build_bench(rounds)?)
}

/// The same with the packages and the kernel that the tests have already.
fn bench_beside_tests() -> Result<()> {
    succeed(suite::beside_tests(&mut build_bench(&[])?)?)
}

fn build_bench(rounds: &[&str]) -> Result<Command> {
    succeed(&mut cargo(&["build", "--release", "--locked", "--package", "kiln", "--package", "bench"]))?;
    Ok(program("target/release/bench", rounds))
}

type Passed = Vec<(String, Cost)>;

/// The steps that passed on a commit: a line for each, with its milliseconds by the clock and of CPU.
struct Journal {
    /// None for a tree with changes, of which nothing is noted.
    path: Option<PathBuf>,
}

impl Journal {
    fn of_commit(is_clean: bool) -> Result<Self> {
        let commit = output(&mut program("git", &["rev-parse", "HEAD"]))?;
        let path = || root().join("target/proof").join(commit.trim());
        Ok(Self { path: is_clean.then(path) })
    }

    /// Forgets what passed before.
    fn begin(&self) -> Result<Passed> {
        self.write(&[])?;
        Ok(Vec::new())
    }

    fn read(&self) -> Result<Passed> {
        let Some(path) = self.path.as_deref().filter(|path| path.exists()) else { return Ok(Vec::new()) };
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        text.lines().map(|line| passed(line).with_context(|| format!("{}: {line}", path.display()))).collect()
    }

    fn write(&self, passed: &[(String, Cost)]) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let line = |(name, cost): &(String, Cost)| {
            format!("{} {} {name}\n", cost.clock.as_millis(), cost.cpu.as_millis())
        };
        let Some(folder) = path.parent() else { bail!("{} has no folder", path.display()) };
        std::fs::create_dir_all(folder)?;
        let scratch = path.with_extension("part");
        std::fs::write(&scratch, passed.iter().map(line).collect::<String>())?;
        std::fs::rename(&scratch, path).with_context(|| path.display().to_string())
    }
}

fn passed(line: &str) -> Option<(String, Cost)> {
    let (clock, rest) = line.split_once(' ')?;
    let (cpu, name) = rest.split_once(' ')?;
    let time = |milliseconds: &str| Some(Duration::from_millis(milliseconds.parse().ok()?));
    Some((name.to_string(), Cost { clock: time(clock)?, cpu: time(cpu)? }))
}

/// All steps with what they took.
fn table(passed: &[(String, Cost)]) -> String {
    let all = passed.iter().fold(Cost::default(), |all, (_, cost)| all + *cost);
    let rows = passed.iter().map(|(name, cost)| (name.as_str(), cost)).chain([("together", &all)]);
    rows.map(|(name, cost)| format!("{name:<28} {cost}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_passed_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal { path: Some(folder.path().join("proof/abc")) };
        assert_eq!(journal.read().unwrap(), []);
        let cost = Cost { clock: Duration::from_millis(1500), cpu: Duration::from_secs(2) };
        let steps = [("property tests, many cases".to_string(), cost), ("tidy".to_string(), Cost::default())];
        journal.write(&steps).unwrap();
        assert_eq!(journal.read().unwrap(), steps);
        assert_eq!(journal.begin().unwrap(), []);
        assert_eq!(journal.read().unwrap(), []);
    }

    #[test]
    fn steps_are_selected_by_how_their_names_begin() {
        let steps = || ["tests", "LTP", "long tests, part 1"].map(|name| Step::new(name, || Ok(()))).into();
        let selected = |only: &[&str]| -> Vec<String> {
            select(steps(), only).unwrap().into_iter().map(|step| step.name).collect()
        };
        assert_eq!(selected(&["LTP", "long"]), ["LTP", "long tests, part 1"]);
        assert_eq!(selected(&[]), ["tests", "LTP", "long tests, part 1"]);
        let error = select(steps(), &["LTP", "fuzz"]).err().unwrap().to_string();
        assert!(error.contains("\"fuzz\"") && error.contains("LTP; long tests"), "{error}");
    }

    #[test]
    fn nothing_is_noted_of_a_tree_with_changes() {
        let journal = Journal { path: None };
        journal.write(&[("tidy".to_string(), Cost::default())]).unwrap();
        assert_eq!(journal.read().unwrap(), []);
    }

    #[test]
    fn the_table_ends_with_all_steps_together() {
        let cost = Cost { clock: Duration::from_secs(3), cpu: Duration::from_secs(4) };
        let text = table(&[("a".to_string(), cost), ("b".to_string(), cost)]);
        assert_eq!(text.lines().last(), Some("together                     6.0 s (8.0 s of CPU)"));
    }
}
