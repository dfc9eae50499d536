//! Where a thread is: for whoever wants to know why it does not go on.

use std::sync::atomic::{AtomicI32, AtomicU8, Ordering::*};

use rustix::thread::gettid;

/// Where a thread is.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Whereabouts {
    thread: AtomicI32,
    doing: AtomicU8,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Doing {
    /// It waits for the other one, or counts.
    Waiting,
    /// It executes its set-up.
    Setup,
    /// It executes its section.
    Section,
    /// It executes the judgement.
    Judging,
    /// It makes no more rounds.
    Gone,
}

impl Doing {
    /// What it does, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waits",
            Self::Setup => "is in its set-up",
            Self::Section => "is in its section",
            Self::Judging => "is in the judgement",
            Self::Gone => "has ended",
        }
    }
}

impl Whereabouts {
    /// The calling thread is the one whose whereabouts these are.
    pub(crate) fn adopt(&self) {
        self.thread.store(gettid().as_raw_nonzero().get(), Relaxed);
    }

    pub(crate) fn set(&self, doing: Doing) {
        self.doing.store(doing as u8, Relaxed);
    }

    /// The number of the thread; 0 before it has begun.
    pub(crate) fn thread(&self) -> i32 {
        self.thread.load(Relaxed)
    }

    pub(crate) fn doing(&self) -> Doing {
        let doing = self.doing.load(Relaxed);
        [Doing::Setup, Doing::Section, Doing::Judging, Doing::Gone]
            .into_iter()
            .find(|&it| it as u8 == doing)
            .unwrap_or(Doing::Waiting)
    }
}
