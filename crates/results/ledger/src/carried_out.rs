//! One of many runs of an experiment: it is carried out and kept.

use std::path::Path;
use std::sync::atomic::Ordering;

use judge::Outcome;
use lab::experiment::{PreparedExperiment, Watching};
use lab::prepare::{self, Context};

use crate::experiments::ExperimentFolder;
use crate::recorder::Error;
use crate::result::ExperimentResult;

/// A run that is kept.
#[derive(Debug)]
pub struct KeptRun {
    /// What came of it.
    pub result: ExperimentResult,
    /// The name of its folder; nothing if it broke: then the next run of the same identity goes on with it.
    pub folder: Option<String>,
}

impl ExperimentResult {
    /// The values of a metric that the run has recorded, in their order. A run that was skipped or broke has none that
    /// says something about the kernel.
    #[must_use]
    pub fn values(&self, metric: &str) -> Vec<f64> {
        let says_something = !matches!(self.run.outcome, Outcome::Skip | Outcome::Broken);
        let figures = self.figures.iter().filter(|figure| says_something && figure.name == metric);
        figures.map(|figure| figure.value).collect()
    }
}

/// Carries out a run and keeps it below `root`, where [`kept_runs`](crate::kept_runs) finds it by its identity; nothing if
/// the user stops it.
///
/// # Errors
///
/// When it cannot be carried out or kept.
pub fn carry_out<E: From<prepare::Error> + From<Error>>(
    run: &PreparedExperiment,
    root: &Path,
    context: &Context<'_>,
    watching: Watching<'_>,
) -> Result<Option<KeptRun>, E> {
    let failed = |why| Error::Io { path: root.to_path_buf(), why };
    let kept = ExperimentFolder::open(root, &run.name(), &run.identity()).map_err(failed)?;
    let carried = run.run(context, (&kept.journal(), kept.path()), watching)?;
    // What the user stops ends in any way.
    if context.waiting.interrupt.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let is_final = carried.verdict.is_final();
    let result = ExperimentResult::new(run, carried);
    let path = kept.keep(&result, is_final).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(KeptRun { result, folder: is_final.then_some(name) }))
}
