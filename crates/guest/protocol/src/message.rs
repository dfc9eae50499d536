//! What machine and agent say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Need;
use crate::command::Command;
use crate::job::Order;
use crate::trace::TraceRequest;

/// Longest text in one message, in bytes; longer text is cut by the sender.
pub const TEXT_MAX: usize = 4096;

/// From the agent to the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromAgent {
    /// The agent is up: the end of every good boot.
    Hello {
        /// [`crate::VERSION`] of the agent.
        protocol: u32,
        /// `uname -r` of the guest.
        release: String,
        /// `uname -m` of the guest.
        arch: String,
        /// Time since boot by the guest's clock, in milliseconds.
        uptime_ms: u64,
        /// Memory that the kernel found, in MiB.
        memory_mib: u64,
        /// CPUs that are on line.
        cpus: u32,
        /// It can look through a [`crate::window`].
        window: bool,
    },
    /// A record of the kernel log.
    Log(KernelRecord),
    /// The kernel overwrote records before the agent could read them.
    LogLost,
    /// What the case wrote to its standard output or error.
    Output {
        /// The number that the request gave.
        run: u32,
        /// At most [`TEXT_MAX`] bytes; invalid UTF-8 is replaced.
        text: String,
    },
    /// A result that the case reported.
    Report {
        /// The number that the request gave.
        run: u32,
        /// The result.
        report: Report,
    },
    /// The work of run `run` has ended, and everything it left has been removed; the kernel may go on for a while with
    /// what it has put off.
    Settling {
        /// The number that the request gave.
        run: u32,
    },
    /// All that belongs to run `run` has been said.
    Finished {
        /// The number that the request gave.
        run: u32,
        /// How its process ended.
        end: End,
        /// All results, also those whose text did not fit on the page.
        counts: Counts,
        /// Time from start to end by the guest's clock, in microseconds.
        duration_us: u64,
        /// `/proc/sys/kernel/tainted` before.
        taint_before: u64,
        /// `/proc/sys/kernel/tainted` after.
        taint_after: u64,
        /// What was still there and had to be removed.
        leftovers: Vec<Leftover>,
    },
    /// Answer to [`ToAgent::Ping`].
    Pong {
        /// The number that the ping gave.
        nonce: u64,
    },
    /// What [`ToAgent::Unpack`] asked for has been done.
    Unpacked {
        /// Why not all of it could be done.
        trouble: Option<String>,
    },
    /// The interactive shell has ended.
    ShellEnded {
        /// How.
        end: End,
    },
    /// Answer to [`ToAgent::Do`].
    Answer {
        /// The number that the request gave.
        number: u32,
        /// Why it could not be done.
        trouble: Option<String>,
    },
    /// What a job of a lab script wrote to its standard output or error, at most [`crate::job::PIECE_MAX`] bytes.
    JobOutput {
        /// The number of the order that started it.
        job: u32,
        /// What it wrote.
        bytes: Vec<u8>,
    },
    /// A job of a lab script has ended, and all that it wrote has been sent.
    JobEnded {
        /// The number of the order that started it.
        job: u32,
        /// How.
        end: End,
    },
    /// The agent could not do its own part; nothing that a case did.
    Trouble {
        /// What and why.
        text: String,
    },
}

/// From the machine to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToAgent {
    /// First message after the hello. It makes the machine one of its own: until now all clones of a template
    /// are the same.
    Start {
        /// From now on frames of the agent carry it. Random per machine; a case that forges frames does not
        /// know it.
        key: u64,
        /// The time of day, in microseconds since 1970.
        now_us: u64,
        /// What the kernel's random numbers are to come from; nothing where they shall be those of the template.
        entropy: Option<[u8; 32]>,
    },
    /// Make files that lie in the [`crate::window`].
    Unpack {
        /// Which entries of its table, in order: the first of each range, and the one after its last.
        ranges: Vec<(u32, u32)>,
    },
    /// Run one case or program.
    Run(RunRequest),
    /// The time of a run is over. It counts only as far as the host let the machine live, which only the host knows.
    TimeUp {
        /// The number that the request gave.
        run: u32,
    },
    /// Say that you are alive.
    Ping {
        /// Comes back in the answer.
        nonce: u64,
    },
    /// Do something for a lab script.
    Do {
        /// Comes back in the answer.
        number: u32,
        /// What.
        order: Order,
    },
    /// Give the console to a shell.
    Shell {
        /// The shell; it begins in the home directory if it can begin in no other.
        command: Command,
        /// `TERM` of the user's terminal.
        term: String,
        /// Lines of the user's terminal.
        rows: u16,
        /// Columns of the user's terminal.
        columns: u16,
    },
    /// The user's terminal has another size now.
    Resize {
        /// Lines.
        rows: u16,
        /// Columns.
        columns: u16,
    },
    /// Synchronise and power off.
    PowerOff,
}

/// One piece of work for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Comes back in every message about this run.
    pub run: u32,
    /// What to do.
    pub work: Work,
    /// The agent ends the work after this time by itself, in milliseconds of the guest's clock.
    pub limit_ms: u64,
    /// Output beyond this many bytes is dropped.
    pub output_max: u64,
    /// What a case that draws random numbers shall draw them from; it finds the number in `KILN_SEED`.
    pub seed: u64,
    /// Paths of modules in the machine, to be loaded in this order before the work starts.
    pub modules: Vec<String>,
    /// Modules that the case needs and of which nobody knows whether the kernel has them built in.
    pub unsure: Vec<String>,
    /// Without these it is skipped; a case has needs of its own besides.
    pub needs: Vec<Need<String>>,
    /// So long the kernel may go on with what the work has put off before its end is announced, in milliseconds.
    pub settle_ms: u64,
    /// What is recorded meanwhile.
    pub trace: Option<Box<TraceRequest>>,
}

/// What a run does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A case that is built into the agent.
    Case(String),
    /// A program in the machine.
    Program(Command),
}

/// A record of `/dev/kmsg`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelRecord {
    /// Sequence number that the kernel gave it.
    pub sequence: u64,
    /// Time since boot in microseconds.
    pub time_us: u64,
    /// Severity of syslog(3), 0 (emergency) to 7 (debug).
    pub level: u8,
    /// The text without prefix; at most [`TEXT_MAX`] bytes.
    pub text: String,
}

/// One result of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What it says.
    pub kind: ReportKind,
    /// What was checked, and where.
    pub text: String,
}

/// The kinds of result that a case can report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportKind {
    /// A check held.
    Pass,
    /// A check did not hold.
    Fail,
    /// What the case needs is not there.
    Skip,
    /// The case's own set-up or clean-up failed.
    Broken,
}

impl ReportKind {
    /// Its name in what people read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::Broken => "broken",
        }
    }
}

/// How many results of each kind a case reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// [`ReportKind::Pass`].
    pub pass: u32,
    /// [`ReportKind::Fail`].
    pub fail: u32,
    /// [`ReportKind::Skip`].
    pub skip: u32,
    /// [`ReportKind::Broken`].
    pub broken: u32,
}

impl Counts {
    /// All results together.
    #[must_use]
    pub fn total(self) -> u64 {
        [self.pass, self.fail, self.skip, self.broken].iter().map(|&n| u64::from(n)).sum()
    }
}

/// How a process in the guest ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// A signal with this number ended it.
    Signalled(i32),
    /// It was still running at its time limit and was killed.
    TimedOut {
        /// Kernel stacks and states of its processes at that moment.
        stacks: String,
        /// The process could be killed; if not it is stuck in the kernel.
        killed: bool,
    },
    /// It could not be started.
    NotStarted(String),
}

/// Something that a case left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// What it is, such as `process 80 (sleep)`.
    pub name: String,
    /// Why it is still there, such as `cannot be killed`; nothing if it was removed.
    pub stuck: Option<String>,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, stuck } = self;
        f.write_str(name)?;
        stuck.as_ref().map_or(Ok(()), |why| write!(f, " {why}"))
    }
}
