//! The root of a machine, if there is to be one.

use std::sync::Arc;

use root::Root;

use super::Context;
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
    let find = |locator| context.backend.root(locator, &mut context.waiting).map(Arc::new);
    machine.root.as_ref().map(find).transpose()
}
