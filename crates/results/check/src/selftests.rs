//! Selftests are those of the tree with all patches, which may bring some, on every kernel.

use lab::prepare;
use lab::prepare::cases::Chosen;
use lab::request::Selection;

use crate::Error;
use crate::document::{Commit, SeriesCheck};
use crate::environment::{Emit, Environment};
use crate::maintainers::{SELFTESTS, groups};
use crate::request::CheckRequest;

/// The folder of a check in which they are kept.
const FOLDER: &str = "selftests";

/// Most groups that are suggested.
const SUGGESTED_MAX: usize = 5;

/// The cases, of which selftests that are to be built are.
pub(crate) fn installed(
    request: &CheckRequest,
    cases: &Selection,
    last: &Commit,
    environment: &Environment<'_>,
    emit: Emit<'_>,
) -> Result<Selection, Error> {
    let is_of_tree = matches!(cases.check().map_err(prepare::Error::from)?, Some(Chosen::Group(_)));
    let kernel = request.kernel(&last.hash);
    environment.waiting(emit, |waiting| {
        let source = if is_of_tree { kernel.source(waiting)? } else { None };
        let root = source.as_ref().map(|source| source.path.clone());
        let installed = cases.installed(root, &environment.folder.join(FOLDER), waiting);
        Ok(installed.map_err(prepare::Error::from)?)
    })
}

/// The selftests that MAINTAINERS has for what the patches touch, but for those that run anyway; nothing if there are none.
pub(crate) fn suggestion(
    request: &CheckRequest,
    found: &SeriesCheck,
    environment: &Environment<'_>,
    emit: Emit<'_>,
) -> Result<Option<String>, Error> {
    let (Some(cases), Some(last)) = (&request.cases, found.patches.last()) else { return Ok(None) };
    let tree = request.patches.repository();
    let groups = environment.with_store(emit, |context| -> Result<_, history::Error> {
        let Some(maintainers) = history::file(&tree, &last.hash, "MAINTAINERS", context)? else {
            return Ok(Vec::new());
        };
        let files = history::files(&tree, [&found.base.hash, &last.hash], context)?;
        let selftests = history::files_below(&tree, &last.hash, SELFTESTS, context)?;
        Ok(groups(&maintainers, &files, &selftests).into_iter().collect())
    })?;
    let is_asked = |group: &String| matches!(cases, Selection::Selftests { place, .. } if place == group);
    let others: Vec<String> = groups.into_iter().filter(|group| !is_asked(group)).collect();
    Ok((!others.is_empty()).then(|| sentence(&others)))
}

fn sentence(groups: &[String]) -> String {
    let options: Vec<String> =
        groups.iter().take(SUGGESTED_MAX).map(|group| format!("--kselftest {group}")).collect();
    let more = match groups.len().saturating_sub(SUGGESTED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("MAINTAINERS has selftests for what the patches touch: {}{more}", options.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_short() {
        let groups: Vec<String> = (1..=7).map(|number| format!("g{number}")).collect();
        let text = "MAINTAINERS has selftests for what the patches touch: --kselftest g1";
        assert_eq!(sentence(&groups[..1]), text);
        assert!(sentence(&groups).ends_with(", --kselftest g5, and 2 more"));
        assert!(sentence(&groups[..5]).ends_with(", --kselftest g5"));
    }
}
