//! A Run: why it ended so, its evidence, its output, and the kernel's log.

use crate::pager::Pager;

/// A Run that is opened.
#[derive(Debug)]
pub(crate) struct RunPage {
    /// The name of its session.
    pub(crate) session: String,
    /// Its case.
    pub(crate) case: String,
    /// Why it cannot be shown.
    pub(crate) trouble: Option<String>,
    /// All about it, as soon as somebody has looked.
    pub(crate) pager: Pager,
}

impl RunPage {
    pub(crate) fn new(session: String, case: String) -> Self {
        Self { session, case, trouble: None, pager: Pager::default() }
    }

    /// By which `kiln show` finds it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.session, self.case)
    }
}
