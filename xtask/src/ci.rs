//! All that must pass before a change lands, step by step; the first failure ends it.

use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::program::{cargo, output, program, succeed, works};
use crate::{fuzz, manual, tidy};

/// One thing that must pass.
struct Step {
    name: &'static str,
    run: fn() -> Result<()>,
}

/// Cheap ones first, so that a small mistake shows at once.
const STEPS: &[Step] = &[
    Step { name: "format", run: format },
    Step { name: "tidy", run: tidy::tidy },
    Step { name: "clippy", run: clippy },
    Step { name: "deny", run: deny },
    Step { name: "documentation", run: documentation },
    Step { name: "fuzz targets", run: fuzz::build },
    Step { name: "generated pages", run: manual::check },
    Step { name: "tests", run: tests },
];

/// Cases of each property test in [`proof`]; 256 elsewhere.
const PROOF_CASES: &str = "10000";

/// Seconds of each fuzz target in [`proof`].
const PROOF_SECONDS: u64 = 300;

/// All that must pass before a change lands.
pub(crate) fn ci() -> Result<()> {
    let begin = Instant::now();
    let before = changes()?;
    let mut times = Vec::new();
    for step in STEPS {
        times.push((step.name, timed(step)?));
    }
    if changes()? != before {
        bail!("ci changed files that git follows, or left new ones: see `git status`");
    }
    println!("\nall passed:");
    for (name, seconds) in times {
        println!("  {name:<16} {seconds:7.1} s");
    }
    println!("  {:<16} {:7.1} s", "together", begin.elapsed().as_secs_f64());
    Ok(())
}

/// Everything, and what takes longer.
pub(crate) fn proof() -> Result<()> {
    ci()?;
    let steps = [
        Step { name: "tests that take long", run: long_tests },
        Step { name: "property tests, many cases", run: many_cases },
        Step { name: "fuzzing", run: || fuzz::all(PROOF_SECONDS) },
        Step { name: "benchmark", run: || bench(&[]) },
    ];
    steps.iter().try_for_each(|step| timed(step).map(drop))
}

/// What kiln promises about its own speed and size.
pub(crate) fn bench(rounds: &[&str]) -> Result<()> {
    succeed(&mut cargo(&["build", "--release", "--locked", "--package", "kiln", "--package", "bench"]))?;
    succeed(&mut program("target/release/bench", rounds))
}

/// Runs a step and gives its seconds.
fn timed(step: &Step) -> Result<f64> {
    println!("\n=== {}", step.name);
    let begin = Instant::now();
    let result = (step.run)();
    let seconds = begin.elapsed().as_secs_f64();
    let word = if result.is_ok() { "passed" } else { "FAILED" };
    println!("=== {} {word} after {seconds:.1} s", step.name);
    result.with_context(|| format!("{} failed", step.name))?;
    Ok(seconds)
}

/// What git sees as changed or new.
fn changes() -> Result<String> {
    let status = output(&mut program("git", &["status", "--porcelain"]))?;
    // What was changed before may be changed again: its content counts.
    Ok(status + &output(&mut program("git", &["diff", "HEAD"]))?)
}

fn format() -> Result<()> {
    succeed(&mut cargo(&["fmt", "--all", "--check"]))?;
    succeed(&mut cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
}

fn clippy() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    succeed(&mut cargo(&arguments))
}

/// Licences, bans and sources always; advisories where their list can be fetched.
fn deny() -> Result<()> {
    let deny =
        |arguments: &[&str]| cargo(&[&["deny", "--locked", "--log-level", "warn"], arguments].concat());
    succeed(&mut deny(&["check", "licenses", "bans", "sources"]))?;
    if !works(&mut deny(&["fetch", "db"])) {
        println!("advisories are not checked: their list cannot be fetched from here");
        return Ok(());
    }
    succeed(&mut deny(&["check", "--disable-fetch", "advisories"]))
}

/// The pages are for those who work on kiln: they show private items, and may link to them.
fn documentation() -> Result<()> {
    const FLAGS: &str = "-D warnings -A rustdoc::private_intra_doc_links";
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked", "--quiet"];
    succeed(cargo(&arguments).env("RUSTDOCFLAGS", FLAGS))
}

/// Unit, property and snapshot tests, and those that boot kernels.
fn tests() -> Result<()> {
    if !works(&mut cargo(&["nextest", "--version"])) {
        let mut test = cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
        // Two machines at a time; nextest has this in .config/nextest.toml.
        return succeed(test.env("RUST_TEST_THREADS", "2").env("INSTA_UPDATE", "no"));
    }
    // nextest leaves out the examples in the documentation.
    succeed(&mut cargo(&["test", "--workspace", "--doc", "--locked", "--quiet"]))?;
    let mut test = cargo(&["nextest", "run", "--workspace", "--locked", "--profile", "ci"]);
    succeed(test.env("INSTA_UPDATE", "no"))
}

/// Tests marked `#[ignore]`: too long for every change.
fn long_tests() -> Result<()> {
    let mut test =
        cargo(&["test", "--workspace", "--locked", "--no-fail-fast", "--tests", "--", "--ignored"]);
    succeed(test.env("RUST_TEST_THREADS", "2").env("INSTA_UPDATE", "no"))
}

fn many_cases() -> Result<()> {
    let mut test = cargo(&["test", "--workspace", "--lib", "--locked", "--release"]);
    succeed(test.env("PROPTEST_CASES", PROOF_CASES).env("INSTA_UPDATE", "no"))
}
