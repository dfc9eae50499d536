//! What all tests of a bisection share.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use kbuild::Recipe;
use kernel::{Kernel, News, PartsHash};
use lab::request::words::call;
use lab::{Waiting, prepare};

use super::requests::FIRST_SEED;
use super::sessions::Sessions;
use super::{Test, requests};
use crate::axis::Subject;
use crate::environment::Environment;
use crate::event::Progress;
use crate::question::{Question, RecordedMetric};
use crate::request::BisectRequest;

/// Digits of the name of a configuration that stays.
const NAME: usize = 12;

/// What is asked, and where it is tested.
pub(super) struct Context<'a> {
    pub(super) request: &'a BisectRequest,
    pub(super) environment: &'a Environment<'a>,
    pub(super) sessions: Sessions,
    /// The folder of the bisection.
    pub(super) directory: PathBuf,
}

/// A Kernel that is there, and what it took to get it.
pub(super) struct Ready<'t> {
    pub(super) test: &'t Test,
    pub(super) kernel: Kernel,
    pub(super) took: Duration,
}

impl Context<'_> {
    /// The command that shows what a subject does.
    pub(super) fn command(&self, subject: &Subject) -> String {
        self.command_with(subject, FIRST_SEED)
    }

    /// The same, where the chance of an experiment is drawn from this seed.
    pub(super) fn command_with(&self, subject: &Subject, seed: u64) -> String {
        let subject = &self.with_file(subject);
        call(&match &self.request.question {
            Question::Build => requests::build(subject).words(),
            Question::Metric { .. } => requests::measure(self.request, subject, 1).words(),
            Question::Experiment(choice) | Question::Recorded(RecordedMetric { experiment: choice, .. }) => {
                requests::experiment(self.request, choice, subject, seed).words()
            }
            _ => requests::run(self.request, subject, 1).words(),
        })
    }

    /// The subject as somebody else can name it: with a configuration of its own in a file that stays.
    fn with_file(&self, subject: &Subject) -> Subject {
        let Some(configuration) = &subject.configuration else { return subject.clone() };
        let mut hash = PartsHash::default();
        hash.part(configuration);
        let path = self.directory.join(format!("{}.config", &hash.finish()[..NAME]));
        // If it cannot be written, neither can the report, which says so.
        let _ = std::fs::write(&path, configuration);
        Subject { recipe: configured(&subject.recipe, &path), ..subject.clone() }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.environment.interrupt.load(Ordering::Relaxed)
    }

    /// Prepares the request of a test, and reports what takes long.
    pub(super) fn preparing<T>(
        &self,
        emit: &mut dyn FnMut(Progress),
        work: impl FnOnce(&mut prepare::Context<'_>) -> T,
    ) -> T {
        let mut progress = |news: News<'_>| emit(news.into());
        let waiting = Waiting { interrupt: self.environment.interrupt, progress: &mut progress };
        work(&mut prepare::Context { backend: self.environment.backend, waiting })
    }
}

/// A recipe with the configuration in a file, and with whatever Kconfig makes of it.
pub(super) fn configured(recipe: &Recipe, path: &Path) -> Recipe {
    let configurations = vec![path.display().to_string()];
    Recipe { configurations, allow_unmet: true, ..recipe.clone() }
}
