//! What can be said of a probe.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::{OUTPUT, Place, Workload};

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln probe --tool opensnoop --failed --exec ./load             which files it does not find
  kiln probe --tool funccount --functions 'vfs_*,ext4_*' --in deb:latest --exec ./load
  kiln probe --tool klockstat --in deb:latest-cloud --cpus 2 --exec ./load
  kiln probe --tool slabratetop --duration 10s --live            what this kernel allocates, as it goes
  kiln probe --tool cachetop --in deb:latest-cloud --exec ./load
  kiln probe -e 'kprobe:vfs_read { @[comm] = hist(arg2); }' --in deb:latest-cloud --exec ./load
  kiln probe --tool opensnoop --pid 4711                         what a process opens that runs already
  kiln probe --script biosnoop.bt --duration 10s

Tools look at the program with all that it starts, from its first instruction on; scripts at what they name: $1 is the number of the program. \
Exit codes: 0 it ran, 2 wrong usage, 3 broken, 4 there is no such program, or this kernel cannot do it.";

/// The tools that kiln has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbeTool {
    /// How processes use the page cache
    Cachetop,
    /// Which programs make processes and threads
    Forks,
    /// How often functions of the kernel are called
    Funccount,
    /// Where locks of the kernel are waited for, and how long
    Klockstat,
    /// Which files are opened
    Opensnoop,
    /// What is allocated from each cache of the slab allocator
    Slabratetop,
}

/// `kiln probe`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true))]
pub(crate) struct Probe {
    /// Look with this tool
    #[arg(long, group = "what")]
    pub(crate) tool: Option<ProbeTool>,
    /// Run this script, if bpftrace is installed; a machine gets it from this host, or from its root
    #[arg(short = 'e', value_name = "SCRIPT", group = "what")]
    pub(crate) expression: Option<String>,
    /// Run the script in this file
    #[arg(long, value_name = "FILE", group = "what")]
    pub(crate) script: Option<PathBuf>,
    /// For funccount: names of functions, with * and ?, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["expression", "script"])]
    pub(crate) functions: Vec<String>,
    /// For opensnoop: only files that cannot be opened
    #[arg(long, conflicts_with_all = ["expression", "script"])]
    pub(crate) failed: bool,
    #[command(flatten)]
    pub(crate) workload: Workload,
    /// Show what was found as it grows, once a second
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) live: bool,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}
