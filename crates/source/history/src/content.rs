//! What a commit holds.

use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::Repository;

/// The text of a file of a commit, without what is no UTF-8; nothing if there is no such file.
///
/// # Errors
///
/// When `tree` is no repository or has no such commit.
pub fn file(
    tree: &Path,
    commit: &str,
    path: &str,
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let repository = Repository::open(tree, context)?;
    let is_there = listed(&repository, commit, path, context)?.iter().any(|listed| listed == path);
    let name = format!("{commit}:{path}");
    is_there.then(|| repository.must(&["cat-file", "blob", &name], context)).transpose()
}

/// The paths of all files of a commit below a folder, in the order of git; none if there is no such folder.
///
/// # Errors
///
/// When `tree` is no repository or has no such commit.
pub fn files_below(
    tree: &Path,
    commit: &str,
    folder: &str,
    context: &mut Context<'_>,
) -> Result<Vec<String>, Error> {
    listed(&Repository::open(tree, context)?, commit, folder, context)
}

fn listed(
    repository: &Repository,
    commit: &str,
    path: &str,
    context: &mut Context<'_>,
) -> Result<Vec<String>, Error> {
    let list = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", path];
    let listed = repository.must(&list, context)?;
    Ok(listed.split_terminator('\0').map(str::to_owned).collect())
}
