//! `kiln doctor`: what works on this host, and what to install for the rest.

use std::path::Path;

use anyhow::Result;
use kernel::Store;
use machine::host::QemuProgram;
use machine::program::Program;
use machine::{kvm, tcg, uml};
use serde::Serialize;

use crate::cli::Doctor;
use crate::listeners::standard_output;
use judge::exit::BROKEN;

/// Programs that kiln or its cases call, and what for.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("apt-get", "deb: locators", "use Debian or Ubuntu, or give an image or a tree"),
    ("dpkg-deb", "deb: locators", "use Debian or Ubuntu, or give an image or a tree"),
    ("busybox", "kiln shell", "apt-get install busybox-static"),
    ("mkfs.ext4", "cases of ext4", "apt-get install e2fsprogs"),
    ("mkfs.xfs", "cases of XFS", "apt-get install xfsprogs"),
    ("mkfs.btrfs", "cases of Btrfs", "apt-get install btrfs-progs"),
    ("make", "building kernels", "apt-get install make"),
    ("gcc", "building kernels", "apt-get install gcc"),
    ("flex", "building kernels", "apt-get install flex"),
    ("bison", "building kernels", "apt-get install bison"),
    ("bc", "building kernels", "apt-get install bc"),
    ("git", "building commits and checkouts", "apt-get install git"),
    ("xz", "deb-source: locators", "apt-get install xz-utils"),
    ("ccache", "building the same again in less time", "apt-get install ccache"),
    ("rsync", "building selftests", "apt-get install rsync"),
    (root::MMDEBSTRAP, "--root debian:PACKAGES", "apt-get install mmdebstrap"),
    (root::MKFS, "--root debian:PACKAGES and directories", "apt-get install erofs-utils"),
    ("gpg", "signatures of mails", "apt-get install gnupg"),
    ("sparse", "static analysis of patches", "apt-get install sparse"),
    ("spatch", "static analysis of patches", "apt-get install coccinelle"),
    ("cppcheck", "static analysis of patches", "apt-get install cppcheck"),
    ("clang", "static analysis of patches", "apt-get install clang"),
    ("perl", "checkpatch and kernel-doc", "apt-get install perl"),
    ("swtpm", "--device tpm", "apt-get install swtpm"),
    ("iasl", "experiments with ACPI tables", "apt-get install acpica-tools"),
    ("sbatch", "kiln matrix --on slurm", "apt-get install slurm-client"),
];

/// Headers that kernels are built with.
const HEADERS: &[(&str, &str, &str)] =
    &[("libelf", "libelf.h", "libelf-dev"), ("openssl", "openssl/opensslv.h", "libssl-dev")];

/// Memory of a default machine and what QEMU itself takes, in MiB.
const MEMORY_MIB: u64 = 1200;

/// Space for a kernel package and the results, in MiB.
const DISK_MIB: u64 = 512;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    good: bool,
    /// Without it kiln is of little use.
    essential: bool,
    /// What was found.
    found: String,
    /// What to do.
    advice: Option<String>,
}

/// Looks at the host and gives the exit code: 3 when something essential is missing.
pub(crate) fn doctor(args: &Doctor) -> Result<u8> {
    let mut findings = vec![qemu(), kvm_finding(), uml(), sandbox(), memory()];
    findings.push(folder("cache", &Store::default_dir(), "XDG_CACHE_HOME"));
    findings.push(folder("results", &ledger::default_root(), "XDG_STATE_HOME"));
    findings.extend(PROGRAMS.iter().map(|&(name, purpose, advice)| program(name, purpose, advice)));
    findings.extend(HEADERS.iter().map(|&(name, path, package)| header(name, path, package)));
    standard_output(|out| {
        for finding in &findings {
            let line = if args.json { serde_json::to_string(finding)? } else { finding.line() };
            writeln!(out, "{line}")?;
        }
        Ok(())
    })?;
    let healthy = findings.iter().all(|finding| finding.good || !finding.essential);
    Ok(if healthy { 0 } else { BROKEN })
}

impl Finding {
    fn line(&self) -> String {
        let mark = match (self.good, self.essential) {
            (true, _) => "ok",
            (false, true) => "MISSING",
            (false, false) => "no",
        };
        let advice = self.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
        format!("{mark:<8} {:<10} {}{advice}", self.what, self.found)
    }
}

fn qemu() -> Finding {
    let (good, found, advice) = match QemuProgram::find() {
        Ok(qemu) => {
            let found = format!("{} {}: TCG works everywhere", qemu.path.display(), qemu.version);
            (true, found, flaws(&qemu.path))
        }
        Err(error) => (false, error.to_string(), None),
    };
    Finding { what: "QEMU", good, essential: true, found, advice }
}

/// What is wrong with QEMU's TCG, and what kiln does about it.
fn flaws(qemu: &Path) -> Option<String> {
    let flags = "its TCG loses the flags of cmpxchg16b: guests get a processor without it";
    let breakpoints =
        "its TCG keeps breakpoints that are gone: machines with several CPUs get a plugin that forgets them";
    let flaws = [(!tcg::keeps_flags(qemu), flags), (tcg::keeps_breakpoints(qemu), breakpoints)];
    let flaws: Vec<&str> = flaws.into_iter().filter_map(|(is, flaw)| is.then_some(flaw)).collect();
    (!flaws.is_empty()).then(|| flaws.join("; "))
}

fn kvm_finding() -> Finding {
    let (good, found) = match kvm::verdict() {
        Ok(()) => (true, "/dev/kvm executes 64-bit code".to_string()),
        Err(why) => (false, why),
    };
    let advice = (!good).then(|| "kiln uses TCG".to_string());
    Finding { what: "KVM", good, essential: false, found, advice }
}

/// Whether User-Mode Linux works; its kernels need no other program.
fn uml() -> Finding {
    let (good, found) = match (uml::check::may_trace(), uml::check::installed()) {
        (Ok(()), Some(path)) => (true, format!("{}, and processes may be traced", path.display())),
        (Ok(()), None) => (true, "processes may be traced; no UML kernel is installed".to_string()),
        (Err(why), _) => (false, why),
    };
    let advice = (!good).then(|| "kernels for QEMU still work".to_string());
    Finding { what: "UML", good, essential: false, found, advice }
}

/// Whether makefiles, which are a stranger's programs, are kept from the network and the user's files.
fn sandbox() -> Finding {
    let good = host::can_sandbox();
    let found = if good {
        "makefiles have no network and no home directory"
    } else {
        "this user cannot create namespaces"
    };
    let advice =
        (!good).then(|| "makefiles run with all your rights: build only source that you trust".to_string());
    Finding { what: "sandbox", good, essential: false, found: found.to_string(), advice }
}

fn memory() -> Finding {
    let mib = host::available_memory_mib().unwrap_or(0);
    let good = mib >= MEMORY_MIB;
    let advice = (!good).then(|| "use a smaller --memory".to_string());
    Finding { what: "memory", good, essential: false, found: format!("{mib} MiB available"), advice }
}

/// A folder of kiln's, and the variable that names another place for it.
fn folder(what: &'static str, directory: &Path, variable: &str) -> Finding {
    // The folder is made on first use; until then its nearest ancestor tells.
    let mib = host::free_mib(directory).unwrap_or(0);
    let (place, is_writable) = (directory.display(), host::is_writable(directory));
    let (good, found, advice) = match () {
        () if !is_writable => {
            let advice = format!("set {variable} to a folder of your own");
            (false, format!("{place}: you may not write there"), Some(advice))
        }
        () if mib < DISK_MIB => {
            (false, format!("{place}: {mib} MiB free"), Some(format!("{DISK_MIB} MiB are recommended")))
        }
        () => (true, format!("{place}: {mib} MiB free"), None),
    };
    Finding { what, good, essential: !is_writable, found, advice }
}

/// A header that the build of a kernel includes.
fn header(name: &'static str, path: &str, package: &str) -> Finding {
    let good = Path::new("/usr/include").join(path).is_file();
    let found = if good {
        format!("/usr/include/{path}")
    } else {
        "not found, needed for building kernels".to_string()
    };
    let advice = (!good).then(|| format!("apt-get install {package}"));
    Finding { what: name, good, essential: false, found, advice }
}

fn program(name: &'static str, purpose: &str, advice: &str) -> Finding {
    match Program::find(name) {
        Some(path) => Finding {
            what: name,
            good: true,
            essential: false,
            found: path.display().to_string(),
            advice: None,
        },
        None => {
            let found = format!("not found, needed for {purpose}");
            Finding { what: name, good: false, essential: false, found, advice: Some(advice.to_string()) }
        }
    }
}
