//! What processes of this host do.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use observe::Kind;

use super::OUTPUT;
use crate::units;

/// Below the help of `kiln observe`.
pub(super) const HELP: &str = "\
Examples:
  kiln observe -- make -j5 check                             what crashes is shown with its stack
  kiln observe --hold -- ./test                              and is left to gdb, stopped there
  kiln observe --cores cores -- make check                   gdb PROGRAM cores/PROGRAM.PID.core
  kiln observe --tree -o events.json -- make
  kiln observe forks                                         what happens to all processes, as root
  kiln observe forks -e exec,exit!=0 --stats -- make
  kiln observe stacks 4711
  kiln observe deadlocks --watch 1s
  kiln observe tasks RESULTS/cases/oops.vmcore               the tasks of a dead kernel, with their calls and locks

A program after -- is traced with all that it starts: what it needs ptrace for, such as a debugger, fails; kiln observe forks watches \
without ptrace, but needs root. Signals that a program handles are no crashes. The exit code is that of the program; deadlocks gives 1 \
if it found one. docs/observing.md says more.";

/// `kiln observe`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Observe {
    #[command(subcommand)]
    pub(crate) verb: Option<ObserveVerb>,
    #[command(flatten)]
    pub(crate) job: ObservedJob,
}

/// A program that is observed with all that it starts.
#[derive(Debug, Args)]
pub(crate) struct ObservedJob {
    /// Leave a process that crashes to debuggers: it is stopped at the instruction until it gets SIGCONT, or for this time
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = units::duration)]
    pub(crate) hold: Option<Option<Duration>>,
    /// Write a core dump of each process that crashes into this directory, which is made if it is not there
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) cores: Option<PathBuf>,
    /// Show each event on standard error as it happens
    #[arg(long)]
    pub(crate) events: bool,
    #[command(flatten)]
    pub(crate) end: AtTheEnd,
    /// Write all of it into this file: a JSON object a line
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// What is shown when a program has ended.
#[derive(Debug, Args)]
pub(crate) struct AtTheEnd {
    /// At the end show which process made which, how long each lived, and how it ended
    #[arg(long)]
    pub(crate) tree: bool,
    /// At the end show how often each program ran, and for how long
    #[arg(long)]
    pub(crate) stats: bool,
}

/// What is looked at.
#[derive(Debug, Subcommand)]
pub(crate) enum ObserveVerb {
    /// Show what happens to all processes as it happens: those that are made, run programs, end
    Forks(Forks),
    /// Show what the threads of a process are doing
    Stacks(OneProcess),
    /// Show what the threads of a process wait for, and the locks of files that it holds
    Locks(OneProcess),
    /// Find threads that wait for each other
    Deadlocks(Deadlocks),
    /// Show the tasks of a kernel in a dump of its machine's memory
    Tasks(Tasks),
}

/// `kiln observe forks`.
#[derive(Debug, Args)]
pub(crate) struct Forks {
    /// Only these events, separated by commas: fork, clone, exec, comm, core, exit, exit!=0, uid, sid, ptrace [default: all but clone]
    #[arg(short, long, value_name = "KINDS", value_delimiter = ',', value_parser = wanted)]
    pub(crate) events: Vec<EventChoice>,
    /// For this time [default: until Ctrl-C, or as long as the program runs]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) end: AtTheEnd,
    /// Print a JSON object for each event
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Only what this program and those that it starts do
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Events that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventChoice {
    /// All of a kind.
    Kind(Kind),
    /// Processes that end with an error.
    Failures,
}

fn wanted(text: &str) -> Result<EventChoice, String> {
    if text == "exit!=0" {
        return Ok(EventChoice::Failures);
    }
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == text && *kind != Kind::Signal);
    let known = || Kind::ALL.map(Kind::name).join(", ").replace("signal, ", "");
    kind.map(EventChoice::Kind).ok_or_else(|| format!("there are {}, exit!=0", known()))
}

/// A process.
#[derive(Debug, Args)]
pub(crate) struct OneProcess {
    /// Its number
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) process: i32,
    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// `kiln observe tasks`.
#[derive(Debug, Args)]
pub(crate) struct Tasks {
    /// The dump, as `kiln run --dump` keeps it
    pub(crate) dump: PathBuf,
    /// All tasks, threads of the kernel that wait for work too
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON document, with all tasks
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// `kiln observe deadlocks`.
#[derive(Debug, Args)]
pub(crate) struct Deadlocks {
    /// Only those with a thread of this process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) process: Option<i32>,
    /// Look again and again, with this time in between, until there is one
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) watch: Option<Duration>,
    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}
