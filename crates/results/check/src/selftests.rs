//! Selftests are those of the tree with all patches, which may bring some, on every kernel.

use lab::prepare;
use lab::prepare::cases::Chosen;
use lab::request::Selection;

use crate::Error;
use crate::document::Commit;
use crate::environment::{Emit, Environment};
use crate::request::CheckRequest;

/// The folder of a check in which they are kept.
const FOLDER: &str = "selftests";

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
