//! Builds the agent as a static program, so that it can be carried inside kiln.
//!
//! A build of its own, since it needs other flags than the rest (`+crt-static`, small before fast).
//! Its directory is shared by all profiles of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let crates =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in crates/").to_path_buf();
    for watched in ["agent", "protocol", "../Cargo.lock", "../Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", crates.join(watched).display());
    }
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    let directory = target_directory().join("agent");
    let status = Command::new(std::env::var_os("CARGO").expect("cargo sets CARGO"))
        .args(["build", "--quiet", "--locked", "--package", "agent", "--bin", "agent", "--profile", "agent"])
        .args(["--target", &target, "--target-dir"])
        .arg(&directory)
        .current_dir(&crates)
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            "-Ctarget-feature=+crt-static\x1f-Crelocation-model=static\x1f-Cforce-unwind-tables=no",
        )
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status()
        .expect("cargo can be started");
    assert!(status.success(), "the agent does not build");
    let agent = directory.join(target).join("agent/agent");
    println!("cargo::rustc-env=KILN_AGENT={}", agent.display());
}

/// The workspace's target directory: the one that holds this script's `OUT_DIR`, whose path ends in
/// `PROFILE/build/PACKAGE-HASH/out`, with the target in between when one is named.
fn target_directory() -> PathBuf {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let tagged = out.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    tagged.unwrap_or(&out).to_path_buf()
}
