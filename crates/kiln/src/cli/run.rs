//! What can be said of a run.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kernel::Locator;
use protocol::Need;

use super::{BuildOptions, Choice, Cluster, Format, MachineOptions, OUTPUT, Policy, UserSpaceOptions};
use crate::units;

/// `kiln run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// deb:VERSION-FLAVOUR, deb:latest-cloud, uml:deb, an image, a tree, git:TREE@REVISION, deb-source:6.12, built:ID or host
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: Locator,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Run this program of the host as the only case; arguments for it come after --
    #[arg(long, value_name = "PATH", conflicts_with_all = ["suite", "kselftest", "case"])]
    pub(crate) exec: Option<PathBuf>,
    /// Arguments for the program
    // clap does not enforce `requires` where the required option is in conflict with one that is given.
    #[arg(last = true, requires = "exec", conflicts_with_all = ["suite", "kselftest", "case"], value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// What each case or the program needs, such as disk=512M,cpus=2,module=kvm,program=fio; may be given more than once
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) need: Vec<Need<String>>,
    /// Time limit of every case instead of its own, such as 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) case_timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) policy: Policy,
    /// Run on the nodes of a cluster: one job for each boot over which the runs are spread, as many as --boots says
    #[arg(long, value_enum, value_name = "CLUSTER", help_heading = "Execution")]
    #[arg(conflicts_with_all = ["until_fail", "resume", "golden", "dump", "trace", "flight", "verbose", "dry_run"])]
    pub(crate) on: Option<Cluster>,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) user_space: UserSpaceOptions,
    /// Keep the memory of a kernel that crashes or hangs in QEMU: cases/NAME.vmcore with the results
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) dump: bool,
    /// Record these events of tracefs while each case runs, such as sched,irq,syscalls: cases/NAME.trace with the results
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', group = "recorded", help_heading = OUTPUT)]
    pub(crate) trace: Vec<protocol::trace::Choice>,
    /// The same, but keep only the last ten seconds of cases that fail
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', num_args = 0..=1, require_equals = true, group = "recorded", help_heading = OUTPUT)]
    #[arg(default_missing_value = protocol::trace::EVENTS)]
    pub(crate) flight: Vec<protocol::trace::Choice>,
    /// What the kernel has for the events of a CPU until they are taken
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = super::trace::buffer, requires = "recorded", help_heading = OUTPUT)]
    pub(crate) trace_buffer: u32,
    /// End the recording of a case when this event happens, and keep the ten seconds before, such as 'sched:sched_process_exit if pid == 7'
    #[arg(long, value_name = "EVENT", value_parser = super::trace::single_event, requires = "recorded", help_heading = OUTPUT)]
    pub(crate) trace_until: Option<protocol::trace::Choice>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Where to make the folder with the results [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
    /// Show the output of programs as they write it, including those that pass
    #[arg(long, short, help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// Print the plan and the machine's command line and stop
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) dry_run: bool,
}
