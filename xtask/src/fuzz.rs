//! Builds and runs the fuzz targets.
//!
//! Stable Rust can instrument for coverage, which is all that libFuzzer needs; what stable lacks is the
//! address sanitizer. The code under test is safe Rust, where an overflow is a panic already.

use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, ensure};

use crate::program::{cargo, program, root, succeed};

/// How long a target runs when nobody says.
pub(crate) const SECONDS: u64 = 60;

/// The host's own triple must be named, or build scripts would be instrumented too.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Longest input, in bytes: several times the longest frame and the longest line.
const LENGTH_MAX: u32 = 200_000;

/// What cargo-fuzz gives to rustc, without what needs nightly.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing";

/// One program of `fuzz/fuzz_targets`.
struct Target {
    name: &'static str,
    /// The folder that holds examples of its input.
    examples: Option<&'static str>,
}

const TARGETS: &[Target] = &[
    plain("frame"),
    like("console", "crates/lab/judge/tests/corpus"),
    like("kernel_report", "crates/lab/judge/tests/corpus"),
    like("ktap", "crates/lab/judge/tests/ktap"),
    plain("image"),
    plain("modinfo"),
    plain("lists"),
    plain("kconfig"),
    plain("fragment"),
    like("diagnostics", "crates/source/kbuild/tests/build-logs"),
    plain("version"),
    plain("suites"),
    plain("answers"),
    plain("profile"),
    plain("symbols"),
    like("mailbox", "fuzz/examples/mailbox"),
    like("signatures", "fuzz/examples/signatures"),
    like("changelog", "fuzz/examples/changelog"),
    like("requests", "fuzz/examples/requests"),
    like("segment", "fuzz/examples/segment"),
    like("script", "fuzz/examples/script"),
    like("stress_job", "examples/stress"),
    like("ftrace", "fuzz/examples/ftrace"),
    plain("ctf"),
    plain("recording"),
    plain("views"),
    plain("hazard"),
    plain("introspect"),
];

const fn plain(name: &'static str) -> Target {
    Target { name, examples: None }
}

const fn like(name: &'static str, examples: &'static str) -> Target {
    Target { name, examples: Some(examples) }
}

/// Checks that all targets would build.
pub(crate) fn check() -> Result<()> {
    succeed(&mut cargo(&[
        "check",
        "--locked",
        "--no-default-features",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
        "target",
    ]))
}

/// Builds all targets.
fn build() -> Result<()> {
    let mut build = cargo(&["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml"]);
    succeed(build.args(["--target", TRIPLE, "--target-dir", "target"]).env("RUSTFLAGS", FLAGS))
}

/// Runs every target, two at a time.
pub(crate) fn all(seconds: u64) -> Result<()> {
    build()?;
    let queue = Mutex::new(TARGETS.iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Result<()> { std::iter::from_fn(next).try_for_each(|target| target.run(seconds)) };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let own = work();
        other.join().map_err(|_| anyhow!("a thread panicked"))?.and(own)
    })
}

/// Runs one target.
pub(crate) fn one(name: &str, seconds: u64) -> Result<()> {
    let found = TARGETS.iter().find(|target| target.name == name);
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let target = found.with_context(|| format!("no such target; there are {}", names.join(", ")))?;
    build()?;
    target.run(seconds)
}

impl Target {
    /// What it finds is kept in `fuzz/artifacts`, what it learns in `fuzz/corpus`.
    fn run(&self, seconds: u64) -> Result<()> {
        let name = self.name;
        let corpus = format!("fuzz/corpus/{name}");
        let artifacts = format!("fuzz/artifacts/{name}/");
        for directory in [&corpus, &artifacts] {
            std::fs::create_dir_all(root().join(directory))?;
        }
        let program_path = format!("target/{TRIPLE}/release/{name}");
        ensure!(root().join(&program_path).exists(), "{program_path} was not built");
        let mut run = program(
            &program_path,
            &[
                &format!("-max_total_time={seconds}"),
                &format!("-max_len={LENGTH_MAX}"),
                &format!("-artifact_prefix={artifacts}"),
                "-timeout=10",
                "-print_final_stats=1",
                "-verbosity=0",
                &corpus,
            ],
        );
        println!("--- {name}: {seconds} s");
        succeed(run.args(self.examples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_run_with_examples_that_are_there() {
        let names: Vec<String> = TARGETS.iter().map(|target| format!("{}.rs", target.name)).collect();
        for entry in std::fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            assert!(names.contains(&file), "{file}");
        }
        for folder in TARGETS.iter().filter_map(|target| target.examples) {
            assert!(std::fs::read_dir(root().join(folder)).unwrap().next().is_some(), "{folder}");
        }
    }
}
