//! What lasted.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// What a thread does, as `prev_state` of `sched:sched_switch` and the events around it say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum State {
    /// It is on a CPU.
    Running,
    /// It waits for a CPU.
    Runnable,
    /// It waits, and a signal would wake it.
    Sleeping,
    /// It waits, and no signal wakes it.
    Blocked,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It has ended.
    Ended,
}

impl State {
    /// Those of a thread that has not ended.
    pub const ALIVE: [Self; 5] =
        [Self::Running, Self::Runnable, Self::Sleeping, Self::Blocked, Self::Stopped];

    /// The state of a thread that leaves its CPU: `TASK_REPORT` in include/linux/sched.h.
    pub(crate) fn left(state: i128) -> Self {
        match state & 0xff {
            0 => Self::Runnable,
            state if state & 0x02 != 0 => Self::Blocked,
            state if state & 0x0c != 0 => Self::Stopped,
            state if state & 0x30 != 0 => Self::Ended,
            _ => Self::Sleeping,
        }
    }

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "runnable",
            Self::Sleeping => "sleeping",
            Self::Blocked => "blocked",
            Self::Stopped => "stopped",
            Self::Ended => "ended",
        }
    }
}

/// Who woke a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Waker {
    /// The thread that was on the CPU.
    pub thread: i32,
    /// The interrupt that it was in.
    pub interrupt: Option<Rc<str>>,
}

/// What it is that lasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A thread was in a state; it had been on that CPU last.
    State {
        /// Which.
        state: State,
        /// The system call that it was in at the end.
        call: Option<Rc<str>>,
        /// Who ended it, or, if it was runnable, what had come before.
        waker: Option<Waker>,
    },
    /// A thread was in a system call.
    Call {
        /// Which.
        name: Rc<str>,
        /// It gave an error.
        failed: bool,
    },
    /// A CPU handled an interrupt.
    Interrupt {
        /// Which.
        name: Rc<str>,
    },
    /// A device worked on a request.
    Request {
        /// The device and the kind of request.
        name: Rc<str>,
    },
}

/// Something that lasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// The thread.
    pub thread: i32,
    /// The CPU.
    pub cpu: u32,
    /// When it began, in nanoseconds on the clock of the trace.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// Begin and end are known; otherwise it is as long as the trace shows.
    pub is_whole: bool,
    /// What it is.
    pub what: What,
}

impl Interval {
    /// How long it lasted, in nanoseconds.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}
