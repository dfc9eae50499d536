//! What is wrong with a script, without running it.

use std::path::Path;

use crate::experiment::Experiment;
use crate::problem::Problem;

mod calls;
mod names;
mod uses;

/// Problems of one experiment that are reported.
const PROBLEMS: usize = 100;

/// What is wrong with the experiment of a folder: nothing of it is run.
#[must_use]
pub fn check(folder: &Path) -> Vec<Problem> {
    match Experiment::open(folder) {
        Ok(experiment) => experiment.check(),
        Err(problem) => vec![problem],
    }
}

impl Experiment {
    /// What is wrong with the script, in the order of its files and lines.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for file in self.order.iter().filter_map(|name| self.files.get(name)) {
            names::check(file, &self.files, &mut problems);
            calls::check(file, &mut problems);
        }
        uses::check(self, &mut problems);
        problems.sort_by(|a, b| (&a.place, &a.text).cmp(&(&b.place, &b.text)));
        problems.dedup();
        problems.truncate(PROBLEMS);
        problems
    }
}
