//! Needs that only the guest itself can judge.
//!
//! kiln has skipped what it knew to be missing from the kernel's configuration and modules; this is
//! the last word, from the running kernel.

use std::path::Path;

use protocol::Need;

/// Where the disk of [`Need::Disk`] is.
pub const DISK: &str = "/dev/vda";

/// What is missing for `need`, if it is.
#[must_use]
pub fn missing(need: Need<&str>) -> Option<String> {
    let there = match need {
        // The modules have been loaded; what else could be looked at differs from module to module.
        Need::Module(_) | Need::OptionalModule(_) | Need::Config(_) => true,
        Need::Filesystem(name) => filesystems().lines().any(|line| line.split('\t').nth(1) == Some(name)),
        Need::Device(path) => Path::new(path).exists(),
        Need::Disk(mib) => disk_mib() >= mib,
        Need::Memory(mib) => memory_mib() >= mib,
        Need::Cpus(count) => cpus() >= count,
        Need::Capability(number) => capabilities() >> number & 1 == 1,
        Need::Tool(name) => tool(name),
    };
    (!there).then(|| format!("needs {need}, which this machine does not have"))
}

fn filesystems() -> String {
    std::fs::read_to_string("/proc/filesystems").unwrap_or_default()
}

/// Size of the disk; the kernel counts sectors of 512 bytes.
fn disk_mib() -> u64 {
    // It may be a link to a device of another name.
    let device = Path::new(DISK).canonicalize().unwrap_or_default();
    let name = device.file_name().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/size")).unwrap_or_default();
    text.trim().parse::<u64>().unwrap_or(0) >> 11
}

/// The kernel keeps some of the machine's memory for itself, so an eighth may be missing.
fn memory_mib() -> u64 {
    let system = rustix::system::sysinfo();
    let mib = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit)) >> 20;
    mib + mib / 7
}

/// CPUs that are on line.
#[must_use]
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

/// The effective set: proc_pid_status(5).
fn capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0)
}

fn tool(name: &str) -> bool {
    // A program that the host named by its path is here by its name.
    let name = Path::new(name).file_name().unwrap_or_default();
    std::env::var("PATH")
        .unwrap_or_default()
        .split(':')
        .any(|directory| Path::new(directory).join(name).exists())
}
