//! What a checkout holds beyond its commit.

use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::Repository;

/// Most paths that are named: a message is about to be written.
const NAMED_MAX: usize = 5;

/// What lies in a checkout and is not in its commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Paths from the top of the checkout: the first five.
    pub paths: Vec<String>,
    /// How many there are.
    pub count: usize,
}

/// How the checkout at `tree` differs from its HEAD: files that changed, are gone or are new, but for what git
/// ignores. A bare repository has no changes.
///
/// # Errors
///
/// When `tree` is no repository, and when the checkout cannot be read.
pub fn changes_in_checkout(tree: &Path, context: &mut Context<'_>) -> Result<Changes, Error> {
    let repository = Repository::open(tree, context)?;
    if repository.must(&["rev-parse", "--is-inside-work-tree"], context)?.trim() != "true" {
        return Ok(Changes::default());
    }
    let top = repository.must(&["rev-parse", "--show-toplevel"], context)?;
    let repository = Repository::open(Path::new(top.trim_end_matches('\n')), context)?;
    let head = repository.require("HEAD", context)?;
    let (committed, _) = repository.describe(&head, context)?;
    let lies = repository.snapshot(context)?;
    let arguments = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &committed, &lies];
    let listed = repository.must(&arguments, context)?;
    let paths = listed.split_terminator('\0');
    Ok(Changes { count: paths.clone().count(), paths: paths.take(NAMED_MAX).map(str::to_owned).collect() })
}
