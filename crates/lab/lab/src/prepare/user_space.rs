//! The root of a machine, if there is to be one.

use std::sync::Arc;

use root::Root;

use super::Context;
use crate::backend::{Backend, Waiting};
use crate::request::MachineRequest;

/// Finds the root that was asked for, and makes it if need be.
///
/// # Errors
///
/// When there is no such root, or it cannot be made.
pub(crate) fn find(
    machine: &MachineRequest,
    context: &mut Context<'_>,
) -> Result<Option<Arc<Root>>, root::Error> {
    of(machine, context.backend, &mut context.waiting)
}

/// The same for a machine that measures.
///
/// # Errors
///
/// As for [`find`], and when nothing can be measured in it.
pub(crate) fn find_in_memory(
    machine: &MachineRequest,
    context: &mut Context<'_>,
) -> Result<Option<Arc<Root>>, root::Error> {
    let found = find(machine, context)?.map(Arc::unwrap_or_clone);
    found.map(|root| root.in_memory().map(Arc::new)).transpose()
}

/// The same where there is only a backend.
///
/// # Errors
///
/// As for [`find`].
pub(crate) fn of(
    machine: &MachineRequest,
    backend: &dyn Backend,
    waiting: &mut Waiting<'_>,
) -> Result<Option<Arc<Root>>, root::Error> {
    if machine.services && (machine.root.is_none() || machine.shows_host_files()) {
        return Err(root::Error::NoInit);
    }
    let find = |locator| backend.root(locator, waiting).map(Arc::new);
    machine.root.as_ref().map(find).transpose()
}
