//! The commit that wrote a line.

use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::Repository;

/// The commit after `first`, up to `last`, that gave a line of a file the form that it has at `last`: git-blame(1). A line that is
/// older gives `first` or one before it; a line that is not there gives nothing.
///
/// # Errors
///
/// When `tree` is no repository, or git cannot be asked.
pub fn blame(
    tree: &Path,
    [first, last]: [&str; 2],
    (file, line): (&str, u32),
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let repository = Repository::open(tree, context)?;
    let (lines, range) = (format!("-L{line},{line}"), format!("{first}..{last}"));
    // What the user's configuration wants to be ignored was written by somebody all the same.
    let arguments = ["blame", "--ignore-revs-file=", "--porcelain", &lines, &range, "--", file];
    match repository.ask(&arguments, context) {
        Ok(said) => Ok(said.and_then(|said| said.split_whitespace().next().map(str::to_owned))),
        // The file is not there, or has fewer lines.
        Err(Error::Git { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
