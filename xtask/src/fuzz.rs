//! Builds and runs the fuzz targets.
//!
//! Stable Rust can instrument for coverage, which is all that libFuzzer needs; what stable lacks is the
//! address sanitizer. The code under test is safe Rust, where an overflow is a panic already.

use std::path::Path;

use anyhow::{Context, Result, ensure};

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

/// Every target, with the folder that holds examples of its input, if there is one.
const TARGETS: &[(&str, Option<&str>)] = &[
    ("frame", None),
    ("console", Some("crates/lab/lab/tests/corpus")),
    ("kernel_report", Some("crates/lab/lab/tests/corpus")),
    ("ktap", Some("crates/lab/lab/tests/ktap")),
    ("image", None),
    ("modinfo", None),
    ("lists", None),
    ("kconfig", None),
    ("fragment", None),
    ("diagnostics", Some("crates/source/kernel/tests/build-logs")),
    ("version", None),
    ("suites", None),
    ("answers", None),
    ("profile", None),
    ("symbols", None),
];

/// Builds all targets.
pub(crate) fn build() -> Result<()> {
    let mut build = cargo(&["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml"]);
    succeed(build.args(["--target", TRIPLE, "--target-dir", "target"]).env("RUSTFLAGS", FLAGS))
}

/// Runs every target.
pub(crate) fn all(seconds: u64) -> Result<()> {
    TARGETS.iter().try_for_each(|(target, _)| one(target, seconds))
}

/// Runs one target; what it finds is kept in `fuzz/artifacts`, what it learns in `fuzz/corpus`.
pub(crate) fn one(target: &str, seconds: u64) -> Result<()> {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let (_, seeds) = found.with_context(|| format!("no such target; there are {}", names.join(", ")))?;
    build()?;
    let corpus = format!("fuzz/corpus/{target}");
    let artifacts = format!("fuzz/artifacts/{target}/");
    for directory in [&corpus, &artifacts] {
        std::fs::create_dir_all(root().join(directory))?;
    }
    let program_path = format!("target/{TRIPLE}/release/{target}");
    ensure!(Path::new(root()).join(&program_path).exists(), "{program_path} was not built");
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
    println!("--- {target}: {seconds} s");
    succeed(run.args(seeds))
}
