//! What happens to processes.

use crate::ending::Ending;
use crate::signal::Signal;

/// Something that a process did or that happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub time: u64,
    /// The process: its thread group.
    pub process: i32,
    /// The thread.
    pub thread: i32,
    /// What it was.
    pub what: What,
}

/// The kinds of events. Those of the process connector are in `linux/cn_proc.h`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// It made a process.
    Fork {
        /// The new process.
        child: i32,
    },
    /// It made a thread.
    Clone {
        /// The new thread.
        child: i32,
    },
    /// It runs another program.
    Exec,
    /// It is called something else.
    Comm(String),
    /// A signal was delivered to it.
    Signal(Signal),
    /// It writes a core dump.
    Core,
    /// It or one of its threads ended.
    Exit(Ending),
    /// Its real and effective user changed.
    User(u32, u32),
    /// Its real and effective group changed.
    Group(u32, u32),
    /// It leads a session of its own.
    Session,
    /// It is traced by this process; by none any more if that is 0.
    Attach(i32),
}

impl What {
    /// The name of the kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Fork { .. } => Kind::Fork,
            Self::Clone { .. } => Kind::Clone,
            Self::Exec => Kind::Exec,
            Self::Comm(_) => Kind::Comm,
            Self::Signal(_) => Kind::Signal,
            Self::Core => Kind::Core,
            Self::Exit(_) => Kind::Exit,
            Self::User(..) | Self::Group(..) => Kind::Uid,
            Self::Session => Kind::Sid,
            Self::Attach(_) => Kind::Ptrace,
        }
    }
}

/// A kind of events, as users name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Processes that are made.
    Fork,
    /// Threads that are made.
    Clone,
    /// Programs that begin.
    Exec,
    /// Names that change.
    Comm,
    /// Signals that are delivered.
    Signal,
    /// Core dumps.
    Core,
    /// Processes that end.
    Exit,
    /// Users and groups that change.
    Uid,
    /// New sessions.
    Sid,
    /// Tracers that attach and detach.
    Ptrace,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Fork,
        Self::Clone,
        Self::Exec,
        Self::Comm,
        Self::Signal,
        Self::Core,
        Self::Exit,
        Self::Uid,
        Self::Sid,
        Self::Ptrace,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Clone => "clone",
            Self::Exec => "exec",
            Self::Comm => "comm",
            Self::Signal => "signal",
            Self::Core => "core",
            Self::Exit => "exit",
            Self::Uid => "uid",
            Self::Sid => "sid",
            Self::Ptrace => "ptrace",
        }
    }
}
