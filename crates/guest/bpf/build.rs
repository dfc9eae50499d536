//! Compiles the programs for BPF, each a file of its own.

use std::path::Path;
use std::process::Command;

const PROGRAMS: [&str; 7] = ["counts", "forks", "functions", "locks", "opens", "page_cache", "slabs"];

/// `-g` for the BTF, which says what maps hold and where fields of the kernel are meant.
const FLAGS: [&str; 8] =
    ["-target", "bpf", "-mcpu=v2", "-O2", "-g", "-Wall", "-Wno-unused-function", "-Werror"];

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let architecture = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets CARGO_CFG_TARGET_ARCH");
    for program in PROGRAMS {
        let object = Path::new(&out).join(program).with_extension("bpf.o");
        let status = Command::new("clang")
            .args(FLAGS)
            .arg(format!("-D__TARGET_ARCH_{architecture}"))
            // No path of where it was built stays in it.
            .arg("-fdebug-compilation-dir=.")
            .args(["-c", &format!("bpf/{program}.bpf.c"), "-o"])
            .arg(&object)
            .status()
            .expect("clang compiles programs for BPF: scripts/setup installs it");
        assert!(status.success(), "clang does not compile bpf/{program}.bpf.c");
    }
}
