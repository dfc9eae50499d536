//! What can go wrong with a history, or with a series on top of it. Each message is one line; a second one says what a patch is in conflict with.

use std::io;
use std::path::{Component, Path, PathBuf};

use host::task::Failure;

use crate::conflict::Conflict;

/// Why there is no history to walk, no change, or no series to apply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or the store.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// There is no series.
    #[error(transparent)]
    Series(#[from] series::Error),
    /// git knows nothing of it.
    #[error("{path}: not a git repository: name a checkout or a bare repository after git:")]
    NotARepository {
        /// As it was typed.
        path: PathBuf,
    },
    /// A commit that is not there.
    #[error("{path}: has no commit {revision}: check `git log`, or fetch it first")]
    NoSuchRevision {
        /// The repository.
        path: PathBuf,
        /// What was asked for.
        revision: String,
    },
    /// git refused something that it should not.
    #[error("{action} failed: {reason}")]
    Git {
        /// What was run.
        action: String,
        /// Its reason.
        reason: String,
    },
    /// git could not be run to its end.
    #[error(transparent)]
    Program(#[from] Failure),
    /// Both ends name the same commit.
    #[error("{good} and {bad} are the same commit: name two different ones")]
    Equal {
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// The bad end is older than the good one.
    #[error(
        "{bad} is an ancestor of {good}, so the bad end comes before the good one: swap them, or add --fixed if the later one is good"
    )]
    Swapped {
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// The ends have no common ancestor.
    #[error("{good} and {bad} have no common ancestor: name two commits of one history")]
    Unrelated {
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// The repository was cloned without the commits that are asked for.
    #[error(
        "{path}: is a shallow clone whose history ends between {good} and {bad}: run `git fetch --unshallow` in it"
    )]
    Shallow {
        /// The repository.
        path: PathBuf,
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// Nothing in the range has to do with the paths.
    #[error("no commit between {good} and {bad} touches {paths}: check the paths, or leave them out")]
    Untouched {
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
        /// The paths.
        paths: String,
    },
    /// git does not take the paths.
    #[error("{paths}: not paths of the tree: {reason}")]
    Paths {
        /// The paths.
        paths: String,
        /// What git has against them.
        reason: String,
    },
    /// More commits than a walk holds.
    #[error(
        "more than {limit} commits lie between {good} and {bad}: narrow it with paths or --first-parent, or take closer ends"
    )]
    TooMany {
        /// The limit.
        limit: usize,
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// The base that a series names is not there.
    #[error(
        "the tree has no commit {commit}, the base of the series: fetch it first{}",
        if remotes.is_empty() { String::new() } else { format!("; its remotes are {}", remotes.join(", ")) }
    )]
    BaseIsMissing {
        /// As the series names it.
        commit: String,
        /// The names of the remotes of the tree.
        remotes: Vec<String>,
    },
    /// No commit is like what a series was made on.
    #[error(
        "{path}: no commit of the last {days} days before it has the files that the series expects: name other branches, or more days"
    )]
    NoBase {
        /// The repository.
        path: PathBuf,
        /// How far back commits were looked at.
        days: u32,
    },
    /// A patch that does not fit what lies below it.
    #[error("patch {number} of {count} (\"{subject}\") does not apply: {reason}; {}{}", doubt(reason, base), against(conflict.as_deref()))]
    DoesNotApply {
        /// Which one of the series, from 1.
        number: usize,
        /// How many there are.
        count: usize,
        /// Its subject.
        subject: String,
        /// What git says of the first file that failed.
        reason: String,
        /// As the base was given.
        base: String,
        /// What stands against it, if that is known.
        conflict: Option<Box<Conflict>>,
    },
}

/// Another base does not help a patch whose path leads out of the tree.
fn doubt(reason: &str, base: &str) -> String {
    let path = Path::new(reason.split(':').next().unwrap_or_default());
    let is_within = path.components().all(|part| matches!(part, Component::Normal(_)));
    match is_within && !reason.starts_with("invalid path ") {
        true => format!("is {base} its base?"),
        false => "patches may not write outside the tree or into .git".to_owned(),
    }
}

fn against(conflict: Option<&Conflict>) -> String {
    conflict.map(|conflict| format!("\nkiln: {conflict}")).unwrap_or_default()
}

impl Error {
    /// True where the user named something wrong, false where the host or git is broken.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_usage(),
            Self::Series(error) => error.is_usage(),
            Self::Git { .. } | Self::Program(_) => false,
            _ => true,
        }
    }

    /// True where the user wanted to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_interrupt(),
            Self::Program(failure) => matches!(failure, Failure::Interrupted { .. }),
            _ => false,
        }
    }

    /// True where git ended by itself when the user wanted to stop: it was not killed over its work.
    pub fn is_clean_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Kernel(kernel::Error::Interrupted)
                | Self::Program(Failure::Interrupted { by_itself: true })
        )
    }

    /// For `map_err` on files.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let error = kernel::Error::io(action, path);
        move |source| Self::Kernel(error(source))
    }
}
