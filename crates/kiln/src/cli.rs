//! What can be said on the command line.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use kernel::Locator;

use crate::units;

mod again;
mod axes;
mod bisect;
mod check;
mod cluster;
mod count;
mod exchange;
mod exp;
mod hazard;
mod help;
mod kernels;
mod latency;
mod machine;
mod mail;
mod matrix;
mod measure;
mod observe;
mod place;
mod policy;
mod probe;
mod problems;
mod race;
mod report;
mod results;
mod run;
mod sample;
mod scheduling;
mod series;
mod serve;
mod shell;
mod steal;
mod store;
mod stress;
mod top;
mod trace;
mod trend;
mod watch;
mod workload;

pub(crate) use again::{Bundle, Kept, Replay};
pub(crate) use bisect::Bisect;
pub(crate) use check::{B4Check, Check, Findings, HowToCheck};
pub(crate) use count::Count;
pub(crate) use exchange::{Export, ExportFormat, Import};
pub(crate) use exp::{Exp, ExpRun, ExpVerb};
pub(crate) use hazard::Hazard;
pub(crate) use report::{Report, ReportFormat, Target, WrapAt};
pub(crate) use serve::Serve;

pub(crate) use axes::Axes;
pub(crate) use cluster::Cluster;
pub(crate) use kernels::{Kernels, KernelsVerb, Prune};
pub(crate) use latency::Latency;
pub(crate) use machine::{MachineOptions, RootOptions, UserSpaceOptions};
pub(crate) use mail::{Mail, MailVerb};
pub(crate) use matrix::{MatrixVerb, OnEach};
pub(crate) use measure::{Compare, Figures, Measure, Wanted};
pub(crate) use observe::{
    AtTheEnd, Deadlocks, EventChoice, Forks, Observe, ObserveVerb, ObservedJob, OneProcess, Tasks,
};
pub(crate) use place::Place;
pub(crate) use policy::{IsolationName, Policy};
pub(crate) use probe::{Probe, ProbeTool};
pub(crate) use problems::{Problems, ProblemsVerb};
pub(crate) use race::Race;
pub(crate) use results::{Results, ShowRun};
pub(crate) use run::Run;
pub(crate) use sample::Sample;
pub(crate) use series::{Am, Diff, InTree, Series, SeriesVerb, Show, Signatures, Source};
pub(crate) use shell::ShellVerb;
pub(crate) use steal::Steal;
pub(crate) use store::{StoreArgs, StoreVerb};
pub(crate) use stress::{Stress, stressor_lines};
pub(crate) use top::Top;
pub(crate) use trace::{Convert, Trace, TraceDiff, TraceVerb, View, Views};
pub(crate) use trend::TrendVerb;
pub(crate) use watch::WatchVerb;
pub(crate) use workload::Workload;

/// Where the help of a verb lists what it prints and keeps.
const OUTPUT: &str = "Output";

/// A laboratory for the Linux kernel: it tests, measures, compares and bisects kernels.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, after_help = help::KILN, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: Color,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Boot a kernel, run cases in it, report the verdict
    #[command(after_help = help::RUN)]
    Run(Box<Run>),
    /// Build a kernel from source, keep it, print its locator
    #[command(after_help = help::BUILD)]
    Build(Build),
    /// Run the kernel's own unit tests: build it with KUnit, boot it, read the results
    #[command(after_help = help::KUNIT)]
    Kunit(Kunit),
    /// Repeat a case of an earlier session, and report whether it ends as before
    #[command(after_help = help::REPLAY)]
    Replay(Replay),
    /// List what is known of the Runs of all sessions
    #[command(after_help = help::RESULTS)]
    Results(Results),
    /// Show all about a Run: why it ended so, evidence, output, kernel log, machine, and how to repeat it
    #[command(after_help = help::SHOW)]
    Show(ShowRun),
    /// List identical failures as problems, with the kernels that have them
    #[command(after_help = help::PROBLEMS)]
    Problems(Problems),
    /// Write a report about a session, Run, matrix, comparison, bisection or check: for a browser without network, or as Markdown, which can be posted
    #[command(after_long_help = report::HELP)]
    Report(Report),
    /// Serve what is known to browsers: sessions, Runs, problems, live while kiln works
    #[command(after_long_help = serve::HELP)]
    Serve(Serve),
    /// Show what is known on this terminal: sessions as they run, what changed, problems; start runs
    #[command(after_long_help = top::HELP)]
    Top(Top),
    /// Write sessions for other programs: JSON, KCIDB, JUnit, KTAP, CSV, Parquet
    #[command(after_help = help::EXPORT)]
    Export(Export),
    /// Take in sessions that another host exported
    #[command(after_help = help::IMPORT)]
    Import(Import),
    /// Pack a Run into one file that reproduces it with only QEMU and a shell
    #[command(after_help = help::BUNDLE)]
    Bundle(Bundle),
    /// Find the change that broke something, and prove it: a package, commit, patch, parameter or option
    #[command(after_help = help::BISECT)]
    Bisect(Box<Bisect>),
    /// Report which kernel is slower, by how much, and why
    #[command(after_help = help::COMPARE)]
    Compare(Compare),
    /// Measure what small operations cost on a kernel
    #[command(after_help = help::MEASURE)]
    Measure(Measure),
    /// Measure how late the kernel wakes a thread
    #[command(after_help = help::LATENCY)]
    Latency(Box<Latency>),
    /// Count how often events of the kernel and the CPU happen
    #[command(after_help = count::HELP)]
    Count(Box<Count>),
    /// Find where the time goes, or where events come from, in programs and the kernel
    #[command(after_help = sample::HELP)]
    Sample(Box<Sample>),
    /// Look into the kernel with a tool or a script of bpftrace
    #[command(after_help = probe::HELP)]
    Probe(Box<Probe>),
    /// Stop a machine where it waits for too long, and show why
    #[command(after_help = hazard::HELP)]
    Hazard(Box<Hazard>),
    /// Measure how much of a CPU a workload really gets, and what takes the rest
    #[command(after_help = help::STEAL)]
    Steal(Box<Steal>),
    /// Load a part of the kernel, and verify what it does under load
    #[command(after_help = help::STRESS)]
    Stress(Box<Stress>),
    /// Make two pieces of kernel code collide that hardly ever do
    #[command(after_help = help::RACE)]
    Race(Box<Race>),
    /// Record what the kernel does while something runs, and show it
    #[command(after_help = help::TRACE)]
    Trace(Box<Trace>),
    /// Show what processes do: a program and all that it starts, stacks, locks, deadlocks
    #[command(after_help = observe::HELP)]
    Observe(Observe),
    /// Test kernels beside each other: run what is missing, and show where cases differ
    #[command(after_help = help::MATRIX)]
    Matrix(Box<MatrixVerb>),
    /// Test new kernels as they arrive, and tell what changed
    #[command(after_help = help::WATCH)]
    Watch(Box<WatchVerb>),
    /// Show a figure over the history of kernels, and where it steps
    #[command(after_help = help::TREND)]
    Trend(TrendVerb),
    /// Run experiments: lab scripts with machines, disks, networks and loads
    #[command(after_help = help::EXP)]
    Exp(Box<Exp>),
    /// Build, test and compare the patches of a series, and write the answer to it
    #[command(after_help = help::CHECK)]
    Check(Box<Check>),
    /// List what static analysis found in earlier checks of a tree
    #[command(after_help = help::FINDINGS)]
    Findings(Findings),
    /// Check the patches that b4 gives, as its review-series-check-cmd or review-perpatch-check-cmd
    #[command(name = "b4-check", after_help = help::B4_CHECK)]
    B4Check(Box<B4Check>),
    /// Send mail that you have read, such as answers of kiln check, and show what waits to be sent, also of posts
    #[command(after_help = help::MAIL)]
    Mail(Mail),
    /// Read patch series from mail: revisions, patches, trailers
    #[command(after_help = help::SERIES)]
    Series(Series),
    /// List the cases and what each needs, without booting anything
    Cases(Cases),
    /// List the kernels that you can name: cached, built, installed and offered by apt
    #[command(after_help = help::KERNELS)]
    Kernels(Kernels),
    /// Show what kiln keeps on the disk, verify it, and make room
    #[command(after_help = help::STORE)]
    Store(StoreArgs),
    /// Open a shell in a booted kernel
    #[command(after_help = help::SHELL)]
    Shell(ShellVerb),
    /// Show what works on this host, and what to install for the rest
    Doctor(Doctor),
    /// What a job of --on slurm does on its node
    #[command(name = "slurm-job", hide = true)]
    SlurmJob {
        /// The script of the job, with its request
        script: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages into a folder
    Manual {
        /// The folder
        directory: PathBuf,
    },
}

/// `kiln build`.
#[derive(Debug, Args)]
pub(crate) struct Build {
    /// A tree, git:TREE@REVISION or deb-source:6.12
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Locator,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
}

/// `kiln kunit`.
#[derive(Debug, Args)]
pub(crate) struct Kunit {
    /// A tree, git:TREE@REVISION, deb-source:6.12, or a kernel that was built with KUnit
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: Locator,
    /// Only suites whose name matches, such as 'list*', separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = units::pattern)]
    pub(crate) suite: Vec<String>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Where to make the folder with the results [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
}

/// How source becomes a kernel.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Building")]
pub(crate) struct BuildOptions {
    /// Configurations to build source with, separated by commas [default: boot; for kunit kunit]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) config: Vec<String>,
    /// Architecture to build the kernel for [default: x86_64; for kunit um]
    #[arg(long, value_enum)]
    pub(crate) arch: Option<ArchName>,
    /// Build even if Kconfig does not grant a requested option
    #[arg(long)]
    pub(crate) allow_unmet: bool,
    /// A variable for make, such as LLVM=1 or W=1; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = units::variable)]
    pub(crate) make: Vec<String>,
}

/// Names of [`kernel::Arch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchName {
    /// A PC
    #[value(name = "x86_64")]
    X86_64,
    /// A program of this host: User-Mode Linux
    Um,
}

/// Which cases.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cases")]
pub(crate) struct Choice {
    /// The suite: smoke, full (all cases), micro (the operations of `kiln measure`), ./FOLDER (its executables), or an LTP tree or list
    #[arg(long, default_value = lab::suites::select::DEFAULT)]
    pub(crate) suite: String,
    /// The kernel's selftests: a group of its tree such as timers, a folder of a tree, or installed ones
    #[arg(long, value_name = "GROUP|DIR", conflicts_with = "suite")]
    pub(crate) kselftest: Option<String>,
    /// Only cases whose name matches, such as 'fs/*'; may be given more than once
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
}

/// `kiln cases`.
#[derive(Debug, Args)]
pub(crate) struct Cases {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kiln doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Forms of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One event a line
    Json,
    /// The kernel's test protocol
    Ktap,
    /// For CI servers
    Junit,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR says otherwise
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether standard output gets colour.
    pub(crate) fn is_wanted(self) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
            Self::Auto if set("CLICOLOR_FORCE") => true,
            Self::Auto => {
                std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
