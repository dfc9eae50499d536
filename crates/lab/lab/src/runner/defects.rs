//! Defects of the kernel that cases have met.

use std::collections::{BTreeSet, HashMap};

use judge::outcome::Outcome;
use judge::run::Run;

/// The first case that met each defect. It is repeated for all of them: the others would only show the same again.
#[derive(Debug, Default)]
pub(super) struct Defects {
    met: HashMap<(Outcome, BTreeSet<String>), String>,
}

impl Defects {
    /// The other case that met the defect of this Run before.
    pub(super) fn met_by_other(&mut self, run: &Run) -> Option<&str> {
        let defect = (run.outcome, run.defects()?.into_iter().map(str::to_string).collect());
        let first = self.met.entry(defect).or_insert_with(|| run.case.clone());
        (*first != run.case).then_some(first.as_str())
    }
}
