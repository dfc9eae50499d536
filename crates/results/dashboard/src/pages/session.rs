//! A session, or one Run of it.

use ledger::Past;
use report::html::Page;
use report::session::kept;

use super::Failure;
use crate::store::Store;

/// All of a session.
pub(crate) fn session(store: &mut Store, name: &str) -> Result<Page, Failure> {
    let past = known(store, name)?;
    Ok(kept(&past, None, name)?)
}

/// One Run of it.
pub(crate) fn run(store: &mut Store, name: &str, case: &str) -> Result<Page, Failure> {
    let past = known(store, name)?;
    let run = past.run(case)?;
    Ok(kept(&past, Some(&run), name)?)
}

fn known(store: &Store, name: &str) -> Result<Past, Failure> {
    store.session(name).ok_or_else(|| Failure::Unknown(format!("there is no session {name:?}")))
}
