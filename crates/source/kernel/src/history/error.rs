//! What is wrong with the ends of a walk or with a series.

use std::path::PathBuf;

use super::COMMITS_MAX;

/// Why there is no history to walk, or no series to apply. Each is a mistake of the user, and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Both ends name the same commit.
    #[error("{good} and {bad} are the same commit: name two between which something changed")]
    Equal {
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// The bad end is older than the good one.
    #[error(
        "{bad} is an ancestor of {good}, so the bad end comes before the good one: swap them, or say --fixed if the later one is the good one"
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
        "more than {COMMITS_MAX} commits lie between {good} and {bad}: narrow it with paths or --first-parent, or take closer ends"
    )]
    TooMany {
        /// As the good end was given.
        good: String,
        /// As the bad end was given.
        bad: String,
    },
    /// A file or a folder without a patch.
    #[error("{path}: no patch in it: give an mbox, a folder of .patch files, or a patch")]
    NoPatch {
        /// The file or folder.
        path: PathBuf,
    },
    /// More patches than a series has.
    #[error("{path}: more than {limit} mails or patches: give the mails of one series")]
    TooManyPatches {
        /// The file or folder.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// A mail that git cannot read.
    #[error("{path}: mail {number} cannot be read: {reason}")]
    Mail {
        /// The file.
        path: PathBuf,
        /// Which mail of the file, from 1.
        number: usize,
        /// What git has against it.
        reason: String,
    },
    /// A patch that does not fit what lies below it.
    #[error("patch {number} of {count} (\"{subject}\") does not apply: {reason}; is {base} its base?")]
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
    },
}
