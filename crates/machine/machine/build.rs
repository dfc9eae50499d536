//! Builds what kiln carries inside: the agent and the instrument `micro`, static programs for guests, with the catalogues
//! of what they hold; the judge that is packed into bundles; and two libraries: the plugin for QEMU, and what UML is
//! preloaded with.
//!
//! Builds of their own, since they need other flags than the rest (`+crt-static`, small before fast). Their
//! directories are shared by all profiles of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What guests run stands at addresses that never change, and needs no library.
const STATIC: &str = "-Ctarget-feature=+crt-static\x1f-Crelocation-model=static\x1f-Cforce-unwind-tables=no";

/// What QEMU and UML load.
const DYNAMIC: &str = "-Cforce-unwind-tables=no";

fn main() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for watched in [
        "crates/guest",
        "crates/lab/judge/src",
        "crates/lab/judge/Cargo.toml",
        "crates/machine/console/src",
        "plugin",
        "preload",
        "Cargo.lock",
        "Cargo.toml",
    ] {
        println!("cargo::rerun-if-changed={}", top.join(watched).display());
    }
    let agent = guest("agent").build(&top).join("agent");
    let micro = guest("micro").build(&top).join("micro");
    let built = [
        ("KILN_CASES", catalogue(&agent)),
        ("KILN_OPERATIONS", catalogue(&micro)),
        ("KILN_AGENT", agent),
        ("KILN_MICRO", micro),
        ("KILN_JUDGE", judge().build(&top).join("standalone")),
        ("KILN_PLUGIN", library("plugin", "plugin").build(&top).join("libplugin.so")),
        ("KILN_PRELOAD", library("preload", "agent").build(&top).join("libpreload.so")),
    ];
    for (variable, file) in built {
        println!("cargo::rustc-env={variable}={}", file.display());
    }
}

/// What is built of a package, and how.
struct Build {
    package: &'static str,
    profile: &'static str,
    /// `--bins` or `--lib`.
    what: &'static str,
    flags: &'static str,
}

/// A static program of the package's name, with a profile of that name.
fn guest(package: &'static str) -> Build {
    Build { package, profile: package, what: "--bins", flags: STATIC }
}

/// The static program that judges the Run of a bundle.
fn judge() -> Build {
    Build { package: "judge", profile: "agent", what: "--bins", flags: STATIC }
}

fn library(package: &'static str, profile: &'static str) -> Build {
    Build { package, profile, what: "--lib", flags: DYNAMIC }
}

impl Build {
    /// Gives the directory of what came out.
    fn build(&self, top: &Path) -> PathBuf {
        let Self { package, profile, what, flags } = *self;
        let target = std::env::var("TARGET").expect("cargo sets TARGET");
        let directory = target_directory().join(package);
        let status = Command::new(std::env::var_os("CARGO").expect("cargo sets CARGO"))
            .args(["build", "--quiet", "--locked", "--package", package, "--profile", profile, what])
            .args(["--target", &target, "--target-dir"])
            .arg(&directory)
            .current_dir(top)
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .status()
            .expect("cargo can be started");
        assert!(status.success(), "the {package} does not build");
        directory.join(target).join(profile)
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
