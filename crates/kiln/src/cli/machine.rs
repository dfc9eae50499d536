//! What can be said of a machine.

use std::time::Duration;

use ::machine::AccelChoice;
use clap::{Args, ValueEnum};
use hardware::{Device, Disk};
use root::RootLocator;

use crate::units;

/// What the machine shall be.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineOptions {
    /// Memory, such as 512M or 2G [default: 1G, more if a case needs it]
    #[arg(long, value_name = "SIZE", value_parser = units::mebibytes)]
    pub(crate) memory: Option<u64>,
    /// CPUs [default: 1, more if a case needs them; User-Mode Linux has one]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub(crate) cpus: Option<u32>,
    /// Kernel parameters after kiln's own; may be given more than once
    #[arg(long, value_name = "PARAMETERS", allow_hyphen_values = true)]
    pub(crate) append: Vec<String>,
    /// How QEMU executes instructions
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) accel: AccelName,
    /// A disk: SIZE, image=PATH (writes go to memory) or file=PATH (writes stay), and ,bus=nvme and the like; may be given more than once
    #[arg(long, value_name = "DISK", value_parser = disk)]
    pub(crate) disk: Vec<Disk>,
    /// A device, such as iommu,intel or nic,outside (docs/devices.md has all); may be given more than once
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Vec<Device>,
    /// Time limit of a boot, such as 30s or 5m [default: 60s, with KVM 15s, for kunit 20 times as long; longer on a busy host]; with --systemd, the services have as much time again
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
}

fn disk(text: &str) -> Result<Disk, hardware::Error> {
    Disk::read(text)
}

/// The user space of programs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct RootOptions {
    /// Run programs in this user space: debian:PACKAGE,... (debian/SUITE:...), a root directory, an image of a file system, or, except to measure or bisect, host (host:DIRECTORY,... to write there)
    #[arg(long, value_name = "ROOT")]
    pub(crate) root: Option<RootLocator>,
}

/// The user space of programs, and what runs in it besides.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct UserSpaceOptions {
    #[command(flatten)]
    pub(crate) root: RootOptions,
    /// Start the systemd of the root before anything else, with its services
    #[arg(long, requires = "root")]
    pub(crate) systemd: bool,
}

/// Names of [`AccelChoice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccelName {
    /// KVM if it works, else TCG
    Auto,
    /// KVM or nothing
    Kvm,
    /// QEMU's own translator
    Tcg,
}

impl From<AccelName> for AccelChoice {
    fn from(name: AccelName) -> Self {
        match name {
            AccelName::Auto => Self::Auto,
            AccelName::Kvm => Self::Kvm,
            AccelName::Tcg => Self::Tcg,
        }
    }
}
