//! What a case is.

use std::time::Duration;

use crate::check::Checked;

/// One test: what it shows, what it needs and how it is done.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `area/what-it-shows`.
    pub name: &'static str,
    /// One line on what it verifies.
    pub about: &'static str,
    /// Without these it is skipped.
    pub needs: &'static [Need],
    /// It is ended after this time of an unloaded machine.
    pub limit: Duration,
    /// Reports in the kernel log that contain one of these texts are wanted.
    pub expects: &'static [&'static str],
    /// Runs before the body, in the same process; its failure says nothing about the kernel.
    pub setup: Option<fn() -> Checked>,
    /// The test itself.
    pub body: fn() -> Checked,
    /// Runs after the body whatever happened, in a process of its own.
    pub cleanup: Option<fn() -> Checked>,
}

/// What a case cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A kernel module, loadable or built in.
    Module(&'static str),
    /// A file system type, from a module of the same name or built in.
    Filesystem(&'static str),
    /// A configuration option, without `CONFIG_`, that is `y` or `m`.
    Config(&'static str),
    /// A device node.
    Device(&'static str),
    /// An empty disk of this many MiB at [`DISK`].
    Disk(u64),
    /// A machine with at least this much memory, in MiB.
    Memory(u64),
    /// A machine with at least this many CPUs.
    Cpus(u32),
    /// A capability of capabilities(7), by its number.
    Capability(u32),
    /// A program of the host, shipped into the machine.
    Tool(&'static str),
}

/// Where the disk of [`Need::Disk`] is.
pub const DISK: &str = "/dev/vda";

/// `CAP_SYS_ADMIN` of capabilities(7).
pub const CAP_SYS_ADMIN: u32 = 21;

impl Case {
    /// A case with no needs and ten seconds.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str, body: fn() -> Checked) -> Self {
        let limit = Duration::from_secs(10);
        Self { name, about, needs: &[], limit, expects: &[], setup: None, body, cleanup: None }
    }

    /// What it cannot do without.
    #[must_use]
    pub const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// Its time limit in seconds.
    #[must_use]
    pub const fn limit(self, seconds: u64) -> Self {
        Self { limit: Duration::from_secs(seconds), ..self }
    }

    /// Kernel reports that it provokes on purpose.
    #[must_use]
    pub const fn expects(self, expects: &'static [&'static str]) -> Self {
        Self { expects, ..self }
    }

    /// What must be there before the body can start.
    #[must_use]
    pub const fn setup(self, setup: fn() -> Checked) -> Self {
        Self { setup: Some(setup), ..self }
    }

    /// What must be undone outside the case's own directory and processes.
    #[must_use]
    pub const fn cleanup(self, cleanup: fn() -> Checked) -> Self {
        Self { cleanup: Some(cleanup), ..self }
    }

    /// The part of the name before the slash.
    #[must_use]
    pub fn area(&self) -> &'static str {
        self.name.split('/').next().unwrap_or(self.name)
    }
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Need::Module(name) => write!(f, "module {name}"),
            Need::Filesystem(name) => write!(f, "file system {name}"),
            Need::Config(option) => write!(f, "CONFIG_{option}"),
            Need::Device(path) => write!(f, "device {path}"),
            Need::Disk(mib) => write!(f, "a disk of {mib} MiB"),
            Need::Memory(mib) => write!(f, "{mib} MiB of memory"),
            Need::Cpus(count) => write!(f, "{count} CPUs"),
            Need::Capability(number) => write!(f, "capability {number}"),
            Need::Tool(name) => write!(f, "program {name}"),
        }
    }
}
