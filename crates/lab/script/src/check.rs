//! What is wrong with a script, without running it.

use std::path::Path;

use crate::experiment::Experiment;
use crate::metadata::Metadata;
use crate::problem::Problem;
use crate::source::Source;
use crate::syntax::{Files, Parsed};

mod calls;
mod names;
mod uses;

/// Problems of one experiment that are reported.
const PROBLEMS: usize = 100;

/// The plan of the experiment of a folder, the names of its steps: none of them is run.
///
/// # Errors
///
/// What is wrong with it.
pub fn check(folder: &Path) -> Result<Vec<String>, Vec<Problem>> {
    let experiment = Experiment::open(folder).map_err(|problem| vec![problem])?;
    let problems = experiment.check();
    if problems.is_empty() { experiment.plan().map_err(|problem| vec![problem]) } else { Err(problems) }
}

/// What is wrong with a script by itself: what it loads is not read.
#[must_use]
pub fn check_source(source: Source) -> Vec<Problem> {
    let parsed = Parsed::new(source).and_then(|file| Ok((Metadata::of(&file)?, file)));
    let (metadata, file) = match parsed {
        Ok(parsed) => parsed,
        Err(problem) => return vec![problem],
    };
    let mut files = Files::default();
    files.insert(file.clone());
    found(&metadata, &[&file], &files)
}

impl Experiment {
    /// What is wrong with the script, in the order of its files and lines.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let order: Vec<&Parsed> = self.order.iter().filter_map(|name| self.files.get(name)).collect();
        found(self.metadata(), &order, &self.files)
    }
}

/// Problems of files, of which the last is the script.
fn found(metadata: &Metadata, order: &[&Parsed], files: &Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in order {
        problems.extend(file.counted().err());
        names::check(file, files, &mut problems);
        calls::check(file, &mut problems);
    }
    uses::check(metadata, order, &mut problems);
    problems.sort_by(|a, b| (&a.place, &a.text).cmp(&(&b.place, &b.text)));
    problems.dedup();
    problems.truncate(PROBLEMS);
    problems
}
