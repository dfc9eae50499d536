//! Where sessions of a matrix run, and who hears of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::News;
use lab::Backend;
use ledger::SessionNews;

/// Where kernels, machines and earlier results are.
pub struct Environment<'a> {
    /// Where kernels and machines come from.
    pub backend: &'a dyn Backend,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
    /// The folder of all sessions.
    pub sessions: PathBuf,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

impl Environment<'_> {
    /// Whether the user wants to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// What happens while a matrix is filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// What is done, for a line that the next one replaces.
    Working(String),
    /// A session of so many is over, or was there already.
    Known(String),
    /// Worth knowing.
    Note(String),
}

impl From<News<'_>> for Progress {
    fn from(news: News<'_>) -> Self {
        match news {
            News::Step(text) => Self::Working(text.to_owned()),
            News::Note(text) => Self::Note(text.to_owned()),
        }
    }
}

impl From<SessionNews> for Progress {
    fn from(news: SessionNews) -> Self {
        match news {
            SessionNews::Working(text) => Self::Working(text),
            SessionNews::Note(text) => Self::Note(text),
        }
    }
}
