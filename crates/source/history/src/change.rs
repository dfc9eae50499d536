//! A change in words.

use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::Repository;

/// Most files of a change that are named.
pub const FILES_MAX: usize = 200;

/// A change that can be named: a commit, or a patch that was made one.
///
/// What it says is the author's, and may hold anything but NUL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The full hash.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// `Name <mail>`, by the tree's .mailmap as `git log` prints it.
    pub author: String,
    /// When it was written: ISO 8601, with the author's time zone.
    pub date: String,
    /// The paths that it changes, in the order of git and at most [`FILES_MAX`]; of a merge, what it brings
    /// to its first parent.
    pub files: Vec<String>,
}

/// The change that a commit makes; `commit` is whatever git takes for one.
///
/// # Errors
///
/// When `tree` is no repository, or has no such commit.
pub fn change(tree: &Path, commit: &str, context: &mut Context<'_>) -> Result<Change, Error> {
    let repository = Repository::open(tree, context)?;
    let commit = repository.require(commit, context)?;
    describe(&repository, commit, context)
}

/// All files that differ between two commits, in the order of git.
///
/// # Errors
///
/// When `tree` is no repository, or lacks one of them.
pub fn files(tree: &Path, [first, last]: [&str; 2], context: &mut Context<'_>) -> Result<Vec<String>, Error> {
    let repository = Repository::open(tree, context)?;
    differing(&repository, &[first, last], context)
}

impl Repository {
    /// The paths that differ between two trees, by their hashes; nothing if it has one of them no more.
    ///
    /// # Errors
    ///
    /// When the user wants to stop.
    pub fn between(&self, trees: [&str; 2], context: &mut Context<'_>) -> Result<Option<Vec<String>>, Error> {
        match differing(self, &trees, context) {
            Ok(paths) => Ok(Some(paths)),
            Err(error) if error.is_interrupt() => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// The paths that differ between two commits or trees, or that a first commit brings.
fn differing(
    repository: &Repository,
    commits: &[&str],
    context: &mut Context<'_>,
) -> Result<Vec<String>, Error> {
    let list = ["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "--no-renames"];
    let listed = repository.must(&[&list, commits].concat(), context)?;
    Ok(listed.split_terminator('\0').map(str::to_owned).collect())
}

/// A commit as the mail that would bring it; empty if it is a merge.
///
/// # Errors
///
/// When `tree` is no repository, or has no such commit.
pub fn mail(tree: &Path, commit: &str, context: &mut Context<'_>) -> Result<String, Error> {
    let repository = Repository::open(tree, context)?;
    let commit = repository.require(commit, context)?;
    let arguments =
        ["diff-tree", "--root", "--patch", "--no-renames", "--no-color", "--pretty=email", &commit];
    repository.must(&arguments, context)
}

pub(super) fn describe(
    repository: &Repository,
    commit: String,
    context: &mut Context<'_>,
) -> Result<Change, Error> {
    let format = "--format=%aN <%aE>%x00%aI%x00%s";
    let log = ["log", "-1", "--no-show-signature", format, &commit];
    let text = repository.must(&log, context)?;
    let mut fields = text.trim_end_matches('\n').split('\0').map(str::to_owned);
    let mut next = || fields.next().unwrap_or_default();
    let (author, date, subject) = (next(), next(), next());
    // A tree of no files stands for the parent of a first commit.
    let parent = repository.resolve(&format!("{commit}^1"), context)?;
    let commits: Vec<&str> = parent.as_deref().into_iter().chain([commit.as_str()]).collect();
    let mut files = differing(repository, &commits, context)?;
    files.truncate(FILES_MAX);
    Ok(Change { commit, subject, author, date, files })
}
