//! What can be said of a shell in a machine.

use clap::Args;
use kernel::Locator;

use super::{BuildOptions, MachineOptions, UserSpaceOptions};

/// `kiln shell`.
#[derive(Debug, Args)]
pub(crate) struct ShellVerb {
    /// deb:VERSION-FLAVOUR, deb:latest-cloud, uml:deb, an image, a tree, git:TREE@REVISION, deb-source:6.12, built:ID or host
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: Locator,
    /// Run this command instead of an interactive shell
    #[arg(short, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) user_space: UserSpaceOptions,
}
