//! How cases are run: apart or together, side by side, once or often.

use std::time::Duration;

use clap::{Args, ValueEnum};
use kernel::Locator;

use crate::units;

/// How cases are run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct Policy {
    /// Whether each case gets a fresh clone of a booted machine, or all share one boot
    #[arg(long, value_enum, default_value = "case", value_name = "WHAT")]
    pub(crate) isolation: IsolationName,
    /// Machines in parallel [default: one for each CPU of the host, if memory allows]
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Run each case this many times and report how often it fails
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repeat: Option<u32>,
    /// Boots over which the runs of a case are spread [default: 1 to 5, more boots for more runs]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) boots: Option<u32>,
    /// Number of the first of these boots; another number gives another boot of the same kernel
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) first_boot: u32,
    /// Run each case until it does not pass, at most --repeat times
    #[arg(long)]
    pub(crate) until_fail: bool,
    /// Do not repeat a failing case to see whether it fails each time
    #[arg(long, conflicts_with_all = ["repeat", "until_fail"])]
    pub(crate) no_retry: bool,
    /// Seed for the random numbers of cases, as KILN_SEED; clones then also share the kernel's [default: one for each Run]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// How long the kernel may finish deferred work after each case: callbacks, work items, timers [default: 70ms]
    #[arg(long, value_name = "TIME", value_parser = units::pause)]
    pub(crate) settle: Option<Duration>,
    /// Run only the cases that the last session of this kernel, machine and suite did not finish
    #[arg(long)]
    pub(crate) resume: bool,
    /// Also run failing cases on this good kernel: a case that fails there in the same way does not accuse the tested one
    #[arg(long, value_name = "KERNEL")]
    pub(crate) golden: Option<Locator>,
}

/// Names of [`lab::Isolation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationName {
    /// Each case in a machine of its own
    Case,
    /// All cases in one machine, as long as it lives
    Suite,
}
