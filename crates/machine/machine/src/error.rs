//! What can go wrong on the way to a running machine.

use thiserror::Error;

pub use console::{BootFailure, BootTrouble, ConsoleSupport};

/// A machine that could not be had. Nothing here says anything about the kernel.
#[derive(Debug, Error)]
pub enum Error {
    /// QEMU is not installed.
    #[error("{0} is not installed: apt-get install qemu-system-x86")]
    NoQemu(String),
    /// QEMU is too old or cannot say what it is.
    #[error("{program}: version 7.2 or later is needed, this is {found}")]
    OldQemu {
        /// The program.
        program: String,
        /// What it said.
        found: String,
    },
    /// KVM was asked for and does not work.
    #[error("--accel kvm: {0}; without --accel kiln uses TCG")]
    NoKvm(String),
    /// An accelerator was asked for and there is none to choose.
    #[error("--accel: User-Mode Linux is a program of this host and has no accelerator")]
    UmlAccel,
    /// User-Mode Linux shows nothing of what it does.
    #[error("hazards are found in QEMU, which shows what a machine executes: not in User-Mode Linux")]
    NoHazards,
    /// KVM does not show what is executed.
    #[error("lock-spin: loops are found in what QEMU itself executes: use --accel tcg instead of KVM")]
    NoSpins,
    /// More CPUs were asked for than there can be.
    #[error("--cpus {asked}: User-Mode Linux has one CPU")]
    UmlCpus {
        /// CPUs asked for.
        asked: u32,
    },
    /// The kernel cannot come up here whatever it does.
    #[error(
        "the kernel was built without CONFIG_{option} and cannot run here ({purpose}): switch the option on and build it again"
    )]
    Unfit {
        /// The option, without `CONFIG_`.
        option: &'static str,
        /// What it is for.
        purpose: &'static str,
    },
    /// The machine would be too small for its own initramfs.
    #[error(
        "--memory {asked}M is too little: this kernel and the files for what runs need at least {needed}M"
    )]
    SmallMemory {
        /// MiB asked for.
        asked: u64,
        /// MiB needed.
        needed: u64,
    },
    /// The host has not got the memory.
    #[error("the host has {available} MiB of memory left, the machine wants {asked}: use a smaller --memory")]
    NoMemory {
        /// MiB asked for.
        asked: u64,
        /// MiB that the host could give.
        available: u64,
    },
    /// No machine can have these devices.
    #[error(transparent)]
    Hardware(#[from] hardware::Error),
    /// What is behind a device cannot be opened.
    #[error("{path}, which a device of the machine uses: {source}", path = path.display())]
    Device {
        /// Its path, or the name of a socket.
        path: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// User-Mode Linux has no such device.
    #[error("--device {device}: User-Mode Linux has only disks with a size or file=PATH")]
    UmlDevice {
        /// As the user writes it.
        device: String,
    },
    /// This host lacks what QEMU needs for a device.
    #[error("--device {device}: this host has no {file}")]
    NoHostFile {
        /// As the user writes it.
        device: String,
        /// What is missing.
        file: &'static str,
    },
    /// There is no program for a TPM.
    #[error("--device tpm: swtpm is not installed: apt-get install swtpm")]
    NoSwtpm,
    /// A program cannot be shipped.
    #[error("{program}: {why}")]
    Program {
        /// Its path or name.
        program: String,
        /// Why not.
        why: String,
    },
    /// A module cannot be read.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The host refused something.
    #[error("{what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// The refusal.
        source: std::io::Error,
    },
}

impl Error {
    /// A refusal of the host while `what` was tried.
    pub fn host(what: &str, source: impl Into<std::io::Error>) -> Self {
        Self::Host { what: what.to_string(), source: source.into() }
    }

    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::UmlAccel
            | Self::NoHazards
            | Self::NoSpins
            | Self::UmlCpus { .. }
            | Self::Unfit { .. }
            | Self::SmallMemory { .. }
            | Self::Hardware(_)
            | Self::Device { .. }
            | Self::UmlDevice { .. }
            | Self::NoHostFile { .. }
            | Self::NoSwtpm
            | Self::Program { .. } => true,
            Self::Kernel(error) => error.is_usage(),
            Self::NoQemu(_)
            | Self::OldQemu { .. }
            | Self::NoKvm(_)
            | Self::NoMemory { .. }
            | Self::Host { .. } => false,
        }
    }
}
