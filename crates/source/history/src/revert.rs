//! One change taken back.

use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::{self, Repository};
use crate::scratch::{Draft, ScratchRepository};

/// Takes the change of `commit` back on top of `onto`, as `git revert` does: the hash of a new commit among
/// kiln's own objects.
///
/// Nothing if that is in conflict with what came since, if there is nothing left to take back, and for merges
/// and first commits, of which it is not clear what to take back.
///
/// # Errors
///
/// When `tree` is no repository or lacks one of the commits, and when git is older than 2.38.
pub fn revert(
    tree: &Path,
    commit: &str,
    onto: &str,
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let repository = Repository::open(tree, context)?;
    let commit = repository.require(commit, context)?;
    let onto = repository.require(onto, context)?;
    let parent = repository.resolve(&format!("{commit}^1"), context)?;
    let is_merge = repository.resolve(&format!("{commit}^2"), context)?.is_some();
    let Some(parent) = parent.filter(|_| !is_merge) else { return Ok(None) };
    let (with, title) = repository.describe(&commit, context)?;
    context.progress(&format!("reverting {title}"));
    let (without, _) = repository.describe(&parent, context)?;
    let (ours, _) = repository.describe(&onto, context)?;
    let scratch = ScratchRepository::open(&repository, context)?;
    let date = scratch.date_of(&onto, context)?;
    let Some(merged) = merge(&scratch, &with, [&ours, &without], context)? else { return Ok(None) };
    if merged == ours {
        return Ok(None);
    }
    let subject = repository.must(&["log", "-1", "--no-show-signature", "--format=%s", &commit], context)?;
    let message = format!("Revert \"{}\"\n\nThis reverts commit {commit}.\n", subject.trim_end());
    let draft =
        Draft { tree: &merged, parent: Some(&onto), message: message.as_bytes(), author: None, date: &date };
    scratch.commit(&draft, context).map(Some)
}

/// Merges two trees that came from a third one; nothing if they are in conflict.
fn merge(
    scratch: &ScratchRepository<'_>,
    base: &str,
    sides: [&str; 2],
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let mut commit = |tree, parent| {
        let draft = Draft { tree, parent, message: b"side\n", author: None, date: "@0 +0000" };
        scratch.commit(&draft, context)
    };
    // git merges commits and finds their base itself; since 2.40 it could also be told.
    let base = commit(base, None)?;
    let [ours, theirs] = [commit(sides[0], Some(&base))?, commit(sides[1], Some(&base))?];
    let arguments = ["merge-tree", "--write-tree", "--no-messages", &ours, &theirs];
    let done = scratch.run(&arguments, |_| {}, context)?;
    let tree = done.output.lines().next().filter(|line| git::is_hash(line));
    match (tree, done.success) {
        (Some(tree), true) => Ok(Some(tree.to_owned())),
        // It gives a tree also where it left marks of conflicts in files.
        (Some(_), false) => Ok(None),
        (None, _) if done.complaint.starts_with("usage: ") => {
            let reason = "it is older than 2.38, which is needed to revert a change".to_owned();
            Err(Error::Git { action: "git merge-tree".to_owned(), reason })
        }
        (None, _) => Err(git::refused(&arguments, &done.complaint)),
    }
}
