//! The patches of a series as commits.

use std::path::Path;

use kernel::Context;
use series::{Composed, patches};

use crate::Error;
use crate::change::{Change, describe};
use crate::git::Repository;
use crate::pickaxe::conflict;
use crate::scratch::{Author, Draft, ScratchRepository};

/// The file of the scratch with the patch that is being applied.
const DIFF: &str = "diff";

/// Who stands for an author of whom nothing is known.
const UNKNOWN: &str = "unknown";

/// Applies the patches in `mail` to `base`, one after the other: a commit for each, the first one first, among
/// kiln's own objects. The same patches on the same base make the same commits.
///
/// `mail` is a mailbox with one series, as [`patches()`] reads it.
///
/// # Errors
///
/// [`Error`] when there is no patch, too many, or one that does not apply; when `mail` cannot be read or is too large; when
/// `tree` is no repository or lacks `base`.
pub fn apply_series(
    tree: &Path,
    base: &str,
    mail: &Path,
    context: &mut Context<'_>,
) -> Result<Vec<Change>, Error> {
    let repository = Repository::open(tree, context)?;
    let mut parent = repository.require(base, context)?;
    let scratch = ScratchRepository::open(&repository, context)?;
    context.progress(&format!("reading the patches of {}", mail.display()));
    let patches = patches(mail)?;
    let date = scratch.date_of(&parent, context)?;
    scratch.must(&["read-tree", &parent], |_| {}, context)?;
    let mut changes = Vec::new();
    for (index, patch) in patches.iter().enumerate() {
        let (number, count) = (index + 1, patches.len());
        context.progress(&format!("applying patch {number} of {count}: {}", patch.subject));
        scratch.write(DIFF, &patch.patch)?;
        if let Some(reason) = refusal(&scratch, context)? {
            let (subject, base) = (patch.subject.clone(), base.to_owned());
            let conflict = conflict(&scratch, &parent, &patch.patch, &reason, context)?.map(Box::new);
            return Err(Error::DoesNotApply { number, count, subject, reason, base, conflict });
        }
        let tree = scratch.must(&["write-tree"], |_| {}, context)?;
        let address = known(&patch.author.address, UNKNOWN);
        let written = patch.author_date();
        let draft = Draft {
            tree: &tree,
            parent: Some(&parent),
            message: &message(patch),
            author: Some(Author {
                name: known(&patch.author.name, address),
                mail: address,
                date: written.as_deref().unwrap_or(&date),
            }),
            date: &date,
        };
        parent = scratch.commit(&draft, context)?;
        changes.push(describe(&repository, parent.clone(), context)?);
    }
    Ok(changes)
}

/// git takes no name or address that is all punctuation.
fn known<'t>(text: &'t str, instead: &'t str) -> &'t str {
    if text.contains(char::is_alphanumeric) { text } else { instead }
}

/// Applies a patch to the index, as `git am --3way` does; why not, if it does not fit.
fn refusal(scratch: &ScratchRepository<'_>, context: &mut Context<'_>) -> Result<Option<String>, Error> {
    let exactly = ["apply", "--cached", "--whitespace=nowarn", DIFF];
    let merging = ["apply", "--cached", "--whitespace=nowarn", "--3way", DIFF];
    let first = scratch.run(&exactly, |_| {}, context)?;
    if first.success || scratch.run(&merging, |_| {}, context)?.success {
        return Ok(None);
    }
    let mut errors = first.complaint.lines().filter_map(|line| line.strip_prefix("error: "));
    let reason = errors.next().or_else(|| first.complaint.lines().next()).unwrap_or_default();
    Ok(Some(reason.strip_prefix("patch failed: ").unwrap_or(reason).to_owned()))
}

/// The whole message; git takes no NUL in it.
fn message(patch: &Composed) -> Vec<u8> {
    let subject = known(&patch.subject, "no subject");
    format!("{subject}\n\n{}\n", patch.message).replace('\0', "").into_bytes()
}
