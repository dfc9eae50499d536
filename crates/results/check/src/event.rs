//! What is reported while patches are checked.

use kernel::News;
use ledger::SessionNews;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A line about what takes long: a step of a build, a case that runs.
    Working(String),
    /// Something is known: a patch is built, a kernel is tested.
    Known(String),
    /// Worth knowing.
    Note(String),
}

impl From<SessionNews> for Progress {
    fn from(news: SessionNews) -> Self {
        match news {
            SessionNews::Working(text) => Self::Working(text),
            SessionNews::Note(text) => Self::Note(text),
        }
    }
}

impl From<News<'_>> for Progress {
    fn from(news: News<'_>) -> Self {
        match news {
            News::Step(text) => Self::Working(text.to_owned()),
            News::Note(text) => Self::Note(text.to_owned()),
        }
    }
}
