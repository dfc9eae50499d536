//! Builds what kiln carries inside: the agent and the instruments, static programs for guests, with the catalogues
//! of what they hold; the judge that is packed into bundles; and two libraries: the plugin for QEMU, and what UML is
//! preloaded with.
//!
//! Builds of their own, since they need other flags than the rest (`+crt-static`, small before fast). They share one
//! directory, with what several of them need, and all profiles of the workspace share it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What guests run stands at addresses that never change, needs no library, and is never unwound.
const STATIC: [&str; 4] = [
    "-Ctarget-feature=+crt-static",
    "-Crelocation-model=static",
    NO_UNWINDING,
    "-Clink-arg=-Wl,--no-eh-frame-hdr",
];

/// The script for the linker that leaves out what unwinding needs.
const LINKER_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/no-unwind.ld");

/// Values of rustc's `opt-level`: for what each machine or bundle holds a copy of; for what the guest waits for, or
/// whose own instructions are counted with those of the kernel.
const SMALL: &str = "\"z\"";
const FAST: &str = "3";

/// Its profile in `Cargo.toml`.
const PROFILE: &str = "carried";

const NO_UNWINDING: &str = "-Cforce-unwind-tables=no";

fn main() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for watched in [
        "crates/guest",
        "crates/lab/judge/src",
        "crates/lab/judge/Cargo.toml",
        "crates/machine/console/src",
        "plugin",
        "preload",
        "crates/machine/machine/no-unwind.ld",
        "Cargo.lock",
        "Cargo.toml",
    ] {
        println!("cargo::rerun-if-changed={}", top.join(watched).display());
    }
    let agent = program("agent", SMALL).build(&top).join("agent");
    let micro = program("micro", FAST).build(&top).join("micro");
    let stress = program("stress", FAST).build(&top).join("stress");
    let built = [
        ("KILN_CASES", catalogue(&agent)),
        ("KILN_OPERATIONS", catalogue(&micro)),
        ("KILN_AGENT", agent),
        ("KILN_MICRO", micro),
        ("KILN_COUNT", program("count", SMALL).build(&top).join("count")),
        ("KILN_LATENCY", program("latency", SMALL).build(&top).join("latency")),
        ("KILN_PROBE", program("probe", SMALL).build(&top).join("probe")),
        ("KILN_RACE", program("race", FAST).build(&top).join("race")),
        ("KILN_SAMPLE", program("sample", SMALL).build(&top).join("sample")),
        ("KILN_STEAL", program("steal", FAST).build(&top).join("steal")),
        ("KILN_STRESSORS", catalogue(&stress)),
        ("KILN_STRESS", stress),
        ("KILN_SWEEP", program("sweep", SMALL).build(&top).join("sweep")),
        ("KILN_TRACE", program("trace", FAST).build(&top).join("trace")),
        ("KILN_JUDGE", program("judge", SMALL).build(&top).join("standalone")),
        ("KILN_PLUGIN", library("plugin", FAST).build(&top).join("libplugin.so")),
        ("KILN_PRELOAD", library("preload", SMALL).build(&top).join("libpreload.so")),
    ];
    for (variable, file) in built {
        println!("cargo::rustc-env={variable}={}", file.display());
    }
}

/// What is built of a package, and how.
struct Build {
    package: &'static str,
    opt_level: &'static str,
    /// `--bins` or `--lib`.
    what: &'static str,
    /// For rustc, as cargo takes them.
    flags: String,
}

/// The static programs of a package.
fn program(package: &'static str, opt_level: &'static str) -> Build {
    let script = format!("-Clink-arg=-Wl,-T,{LINKER_SCRIPT}");
    let flags = STATIC.into_iter().chain([script.as_str()]).collect::<Vec<_>>().join("\x1f");
    Build { package, opt_level, what: "--bins", flags }
}

/// What QEMU and UML load.
fn library(package: &'static str, opt_level: &'static str) -> Build {
    Build { package, opt_level, what: "--lib", flags: NO_UNWINDING.to_string() }
}

impl Build {
    /// Gives the directory of what came out.
    fn build(&self, top: &Path) -> PathBuf {
        let Self { package, opt_level, what, ref flags } = *self;
        let target = std::env::var("TARGET").expect("cargo sets TARGET");
        let directory = target_directory().join(PROFILE);
        let status = Command::new(std::env::var_os("CARGO").expect("cargo sets CARGO"))
            .args(["build", "--quiet", "--locked", "--package", package, "--profile", PROFILE, what])
            // In one profile, so that what runs while they are built is built once.
            .args(["--config", &format!("profile.{PROFILE}.opt-level={opt_level}")])
            .args(["--target", &target, "--target-dir"])
            .arg(&directory)
            .current_dir(top)
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .status()
            .expect("cargo can be started");
        assert!(status.success(), "the {package} does not build");
        directory.join(target).join(PROFILE)
    }
}

/// Has a program for guests write what it holds; gives the file.
fn catalogue(program: &Path) -> PathBuf {
    let output = Command::new(program).arg("--catalogue").output().expect("programs for guests run here");
    assert!(output.status.success(), "{} has no catalogue", program.display());
    let name = program.file_name().expect("a program has a name");
    let file = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join(name);
    std::fs::write(&file, output.stdout).expect("cargo's directory can be written");
    file
}

/// The workspace's target directory: the one that holds this script's `OUT_DIR`, whose path ends in
/// `PROFILE/build/PACKAGE-HASH/out`, with the target in between when one is named.
fn target_directory() -> PathBuf {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let tagged = out.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    tagged.unwrap_or(&out).to_path_buf()
}
