//! Builds what kiln carries inside: the agent and the instrument `micro`, static programs for guests, with the catalogues
//! of what they hold, and two libraries: the plugin for QEMU, and what UML is preloaded with.
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
    for watched in ["crates/guest", "plugin", "preload", "Cargo.lock", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", top.join(watched).display());
    }
    let agent = build(&top, ("agent", "agent"), &["--bin", "agent"], STATIC).join("agent");
    let micro = build(&top, ("micro", "micro"), &["--bin", "micro"], STATIC).join("micro");
    let built = [
        ("KILN_CASES", catalogue(&agent)),
        ("KILN_OPERATIONS", catalogue(&micro)),
        ("KILN_AGENT", agent),
        ("KILN_MICRO", micro),
        ("KILN_PLUGIN", build(&top, ("plugin", "plugin"), &["--lib"], DYNAMIC).join("libplugin.so")),
        ("KILN_PRELOAD", build(&top, ("preload", "agent"), &["--lib"], DYNAMIC).join("libpreload.so")),
    ];
    for (variable, file) in built {
        println!("cargo::rustc-env={variable}={}", file.display());
    }
}

/// Builds some of a package with a profile; gives the directory of what came out.
fn build(top: &Path, (package, profile): (&str, &str), what: &[&str], flags: &str) -> PathBuf {
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    let directory = target_directory().join(package);
    let status = Command::new(std::env::var_os("CARGO").expect("cargo sets CARGO"))
        .args(["build", "--quiet", "--locked", "--package", package, "--profile", profile])
        .args(what)
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
