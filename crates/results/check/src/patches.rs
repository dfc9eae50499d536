//! The commits that are checked.

use bisect::axis::{Axis, Build, History, Range, STRANGERS, uncommitted};
use history::Limits;
use kernel::Context;
use ledger::Progress;

use crate::Error;
use crate::document::Commit;
use crate::environment::{Emit, Environment};
use crate::request::{CheckRequest, PatchesRequest};

/// The commit before the patches, and theirs.
#[derive(Debug)]
pub(crate) struct Patches {
    pub(crate) base: Commit,
    pub(crate) commits: Vec<Commit>,
    /// What the user should know about them.
    pub(crate) notes: Vec<String>,
}

/// Finds the commits, or applies the patches as commits.
pub(crate) fn find(
    request: &CheckRequest,
    environment: &Environment<'_>,
    emit: Emit<'_>,
) -> Result<Patches, Error> {
    if let PatchesRequest::Series { .. } = &request.patches {
        emit(Progress::Note(STRANGERS.to_owned()));
    }
    let build = Build { recipe: request.build.recipe(), interrupt: environment.interrupt };
    environment.with_store(emit, |context| {
        let mut notes = Vec::new();
        let mut axis = match &request.patches {
            PatchesRequest::Series { mail, tree, revision } => {
                History::series(tree, revision, mail, build, context)?
            }
            PatchesRequest::Commits { tree, first, last } => {
                notes.extend(uncommitted(tree, context));
                let limits = Limits { paths: Vec::new(), first_parent: true };
                let range = Range { first, last, limits: &limits };
                History::commits(tree, &range, build, context).map_err(|error| in_words(error, range))?
            }
        };
        notes.extend(axis.note().map(str::to_owned));
        let base = commit(&request.patches, axis.first(), context)?;
        let commits = (0..axis.candidates().len()).map(|number| described(&mut axis, number));
        Ok(Patches { base, commits: commits.collect::<Result<_, _>>()?, notes })
    })
}

/// A bisection has a good end and a bad one, patches have not.
fn in_words(error: bisect::Error, Range { first, last, .. }: Range<'_>) -> Error {
    match error {
        bisect::Error::History(history::Error::Swapped { .. }) => {
            Error::Usage(format!("{last} is before {first}: write {last}..{first}"))
        }
        bisect::Error::History(history::Error::Equal { .. }) => {
            Error::Usage(format!("{first}..{last}: there is no commit between them"))
        }
        error => error.into(),
    }
}

fn commit(patches: &PatchesRequest, hash: &str, context: &mut Context<'_>) -> Result<Commit, Error> {
    let change = history::change(&patches.repository(), hash, context)?;
    Ok(Commit {
        hash: change.commit,
        subject: change.subject,
        author: Some(change.author),
        ..Commit::default()
    })
}

fn described(axis: &mut History<'_>, number: usize) -> Result<Commit, Error> {
    let candidate = axis.describe(number)?;
    Ok(Commit {
        hash: candidate.name,
        subject: candidate.title,
        author: candidate.author,
        ..Commit::default()
    })
}
