//! What this host has.

use std::path::PathBuf;
use std::process::Command;

use ::host::find_program;

use crate::error::Error;

/// The QEMU that runs machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QemuProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Its version, such as `7.2.22`.
    pub version: String,
}

/// The program.
pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// Oldest QEMU that has every option that kiln uses.
const OLDEST: (u32, u32) = (7, 2);

impl QemuProgram {
    /// Finds it in the user's PATH, without starting it, which takes a tenth of a second.
    ///
    /// # Errors
    ///
    /// When it is not installed.
    pub fn locate() -> Result<PathBuf, Error> {
        find_program(QEMU).ok_or_else(|| Error::NoQemu(QEMU.to_string()))
    }

    /// Finds it and asks for its version.
    ///
    /// # Errors
    ///
    /// When it is not installed, does not start or is too old.
    pub fn find() -> Result<Self, Error> {
        let path = Self::locate()?;
        let output = Command::new(&path).arg("--version").output();
        let output = output.map_err(|source| Error::host(&path.display().to_string(), source))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = text.lines().next().unwrap_or_default().to_string();
        match version(&first) {
            Some((major, minor, version)) if (major, minor) >= OLDEST => Ok(Self { path, version }),
            _ => Err(Error::OldQemu { program: path.display().to_string(), found: first }),
        }
    }
}

/// The number in `QEMU emulator version 7.2.22 (Debian ...)`.
pub(crate) fn version(line: &str) -> Option<(u32, u32, String)> {
    let text = line.split("version ").nth(1)?.split_whitespace().next()?;
    let mut numbers = text.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??, text.to_string()))
}

/// How much longer things take because the host is busy: its load per CPU, at least 1.
#[must_use]
pub fn busyness() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    #[expect(clippy::cast_precision_loss, reason = "a handful of CPUs")]
    let per_cpu = load / cpus as f64;
    per_cpu.clamp(1.0, 100.0)
}

/// Whether the host counts how long a thread waits for a CPU: Documentation/scheduler/sched-stats.rst. The third
/// number is how often the thread was on one.
#[must_use]
pub fn counts_waiting() -> bool {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().nth(2).is_some_and(|times| times != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_qemu_is_read() {
        let line = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)";
        assert_eq!(version(line), Some((7, 2, "7.2.22".into())));
        assert_eq!(version("QEMU emulator version 10.0.2"), Some((10, 0, "10.0.2".into())));
        assert_eq!(version("hello"), None);
    }
}
