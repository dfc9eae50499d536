//! A session, or one Run of it.

use judge::Run;
use ledger::Past;
use report::html::Page;
use report::session::SessionPage;

use super::Failure;
use crate::store::Store;

/// All of a session.
pub(crate) fn session(store: &mut Store, name: &str) -> Result<Page, Failure> {
    let past = known(store, name)?;
    shown(&past, &past.runs())
}

/// One Run of it.
pub(crate) fn run(store: &mut Store, name: &str, case: &str) -> Result<Page, Failure> {
    let past = known(store, name)?;
    let run = past.run(case)?;
    shown(&past, &[run])
}

fn known(store: &Store, name: &str) -> Result<Past, Failure> {
    store.session(name).ok_or_else(|| Failure::Unknown(format!("there is no session {name:?}")))
}

fn shown(past: &Past, runs: &[Run]) -> Result<Page, Failure> {
    let mut session = past.session()?;
    if let [only] = runs {
        session.cases = vec![only.case.clone()];
    }
    // Without them the Runs say what there is to say.
    let figures = past.result().ok().flatten().map(|result| result.figures).unwrap_or_default();
    let name = past.name();
    Ok(SessionPage { session: &session, runs, figures: &figures, name: &name, took: past.took() }.page())
}
