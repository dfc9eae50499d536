//! A test that builds, and the Kernels of the other tests.

use std::collections::HashSet;
use std::time::Instant;

use judge::signature::masked;
use kbuild::Recipe;
use kernel::News;
use lab::Waiting;
use lab::request::KernelRequest;

use super::context::{Context, Ready, configured};
use super::{Test, Tested};
use crate::answer::Answer;
use crate::axis::Subject;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;
use crate::question::Question;

/// Where a whole configuration is put: always under the same name, so that builds share what they compiled.
const CONFIGURATION: &str = "bisect.config";

/// What the errors of the build say that is searched for, but for numbers; any failure is searched for if there are none.
#[derive(Default)]
pub(super) struct Builds {
    errors: HashSet<String>,
}

/// Why there is no Kernel.
pub(super) struct Missing {
    why: String,
    /// What the errors of the build say.
    errors: Vec<String>,
}

impl Missing {
    fn new(error: &kbuild::Error) -> Self {
        let why = error.to_string();
        let errors = match error.of_build() {
            [] => why.lines().take(1).map(str::to_string).collect(),
            errors => errors.to_vec(),
        };
        Self { why, errors }
    }
}

impl Builds {
    /// Only builds with an error like one of these fail in the way that is searched for.
    pub(super) fn look_for(&mut self, evidence: &Evidence) {
        self.errors = evidence.errors.iter().map(|text| masked(text)).collect();
    }

    /// What a Kernel that is not there answers.
    pub(super) fn without_kernel(&self, context: &Context<'_>, test: &Test, missing: &Missing) -> Tested {
        let Missing { why, errors } = missing;
        let evidence = Evidence {
            command: context.command(&test.subject),
            lines: why.lines().map(str::to_string).collect(),
            errors: errors.clone(),
            ..Evidence::default()
        };
        let is_like = self.errors.is_empty() || errors.iter().any(|text| self.errors.contains(&masked(text)));
        let first = why.lines().next().unwrap_or_default();
        let answer = match &context.request.question {
            Question::Build if is_like => Answer::Runs { bad: 1, good: 0 },
            Question::Build => Answer::CannotTest(format!("it fails in another way: {first}")),
            _ => Answer::CannotTest(format!("there is no kernel: {first}")),
        };
        Tested::at_once(answer, evidence)
    }
}

/// The Kernel of a test, or why there is none.
pub(super) fn ready<'t>(
    context: &Context<'_>,
    test: &'t Test,
    emit: &mut dyn FnMut(Progress),
) -> Result<Result<Ready<'t>, Missing>, Error> {
    let start = Instant::now();
    let recipe = recipe(context, &test.subject)?;
    let mut progress = |news: News<'_>| emit(news.into());
    let wanted = KernelRequest::of(test.subject.locator.clone(), &recipe.into());
    let mut waiting = Waiting { interrupt: context.environment.interrupt, progress: &mut progress };
    match context.environment.backend.kernel(&wanted, &mut waiting) {
        Ok(kernel) => Ok(Ok(Ready { test, kernel, took: start.elapsed() })),
        Err(error) if error.is_interrupt() => Err(Error::Interrupted),
        Err(error) if error.accuses_kernel() || error.is_usage() => Ok(Err(Missing::new(&error))),
        Err(error) => Err(error.into()),
    }
}

/// How the subject is built; a configuration of its own is written first.
fn recipe(context: &Context<'_>, subject: &Subject) -> Result<Recipe, Error> {
    let Some(configuration) = &subject.configuration else { return Ok(subject.recipe.clone()) };
    let path = context.directory.join(CONFIGURATION);
    std::fs::write(&path, configuration)
        .map_err(|error| Error::Broken(format!("{}: {error}", path.display())))?;
    Ok(configured(&subject.recipe, &path))
}

/// What a Kernel answers that was built.
pub(super) fn built(context: &Context<'_>, ready: &Ready<'_>) -> Tested {
    let evidence = Evidence {
        release: ready.kernel.release.clone(),
        command: context.command(&ready.test.subject),
        ..Evidence::default()
    };
    Tested { preparation: ready.took, ..Tested::at_once(Answer::Runs { bad: 0, good: 1 }, evidence) }
}
