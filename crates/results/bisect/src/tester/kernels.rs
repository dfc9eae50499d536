//! Answers the question of a bisection with real kernels in real machines.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use judge::signature::{Way, masked};
use kbuild::Recipe;
use kernel::{Kernel, PartsHash};
use lab::Waiting;
use lab::prepare;
use lab::request::KernelRequest;
use lab::request::words::call;

use super::shares::{Share, in_shares, side_by_side};
use super::{Answer, Test, Tested, Tester, figures, requests, runs};
use crate::axis::Subject;
use crate::bisection::Evidence;
use crate::carry_out::Environment;
use crate::error::Error;
use crate::event::Progress;
use crate::question::Question;
use crate::request::BisectRequest;

/// Where a whole configuration is put: always under the same name, so that builds share what they compiled.
const CONFIGURATION: &str = "bisect.config";

/// Digits of the name of a configuration that stays.
const NAME: usize = 12;

/// Finds or builds the Kernels, and runs what was asked.
pub(crate) struct KernelTester<'a> {
    pub(super) request: &'a BisectRequest,
    pub(super) environment: &'a Environment<'a>,
    /// The folder of the bisection.
    directory: PathBuf,
    /// How the failure looks that is searched for, once it was seen.
    pub(super) way: Option<Way>,
    /// What the errors of the build say that is searched for, but for numbers.
    errors: HashSet<String>,
    /// Sessions whose Runs were counted already.
    pub(super) counted: HashSet<String>,
    /// What the case says about itself whose Runs in other sessions count.
    pub(super) about: Option<String>,
}

/// Why there is no Kernel.
struct Missing {
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

/// A Kernel that is there, and what it took to get it.
pub(super) struct Ready<'t> {
    pub(super) test: &'t Test,
    pub(super) kernel: Kernel,
    pub(super) took: Duration,
}

impl<'a> KernelTester<'a> {
    /// One that has seen nothing yet; of the sessions `counted`, the Runs were counted already.
    pub(crate) fn new(
        request: &'a BisectRequest,
        environment: &'a Environment<'a>,
        directory: PathBuf,
        counted: HashSet<String>,
    ) -> Self {
        let about = runs::about(request);
        Self { request, environment, directory, way: None, errors: HashSet::new(), counted, about }
    }
}

impl KernelTester<'_> {
    /// The Kernel of a test, or why there is none.
    fn ready<'t>(
        &self,
        test: &'t Test,
        heard: &mut dyn FnMut(Progress),
    ) -> Result<Result<Ready<'t>, Missing>, Error> {
        let start = Instant::now();
        let recipe = self.recipe(&test.subject)?;
        let mut told = |text: &str| heard(Progress::Working(text.to_string()));
        let wanted = KernelRequest { locator: test.subject.locator.clone(), build: recipe.into() };
        let mut waiting = Waiting { interrupt: self.environment.interrupt, progress: &mut told };
        match self.environment.backend.kernel(&wanted, &mut waiting) {
            Ok(kernel) => Ok(Ok(Ready { test, kernel, took: start.elapsed() })),
            Err(error) if error.is_interrupt() => Err(Error::Interrupted),
            Err(error) if error.accuses_kernel() || error.is_usage() => Ok(Err(Missing::new(&error))),
            Err(error) => Err(error.into()),
        }
    }

    /// How the subject is built; a configuration of its own is written first.
    fn recipe(&self, subject: &Subject) -> Result<Recipe, Error> {
        let Some(configuration) = &subject.configuration else { return Ok(subject.recipe.clone()) };
        let path = self.directory.join(CONFIGURATION);
        std::fs::write(&path, configuration)
            .map_err(|error| Error::Broken(format!("{}: {error}", path.display())))?;
        Ok(configured(&subject.recipe, &path))
    }

    /// What a Kernel that is not there answers.
    fn without_kernel(&self, test: &Test, missing: &Missing) -> Tested {
        let Missing { why, errors } = missing;
        let evidence = Evidence {
            command: self.command(&test.subject),
            lines: why.lines().map(str::to_string).collect(),
            errors: errors.clone(),
            ..Evidence::default()
        };
        let is_like = self.errors.is_empty() || errors.iter().any(|text| self.errors.contains(&masked(text)));
        let first = why.lines().next().unwrap_or_default();
        let answer = match &self.request.question {
            Question::Build if is_like => Answer::Runs { shown: 1, hidden: 0 },
            Question::Build => Answer::CannotTest(format!("it fails in another way: {first}")),
            _ => Answer::CannotTest(format!("there is no kernel: {first}")),
        };
        Tested::at_once(answer, evidence)
    }

    fn built(&self, ready: &Ready<'_>) -> Tested {
        let evidence = Evidence {
            release: ready.kernel.release.clone(),
            command: self.command(&ready.test.subject),
            ..Evidence::default()
        };
        Tested { preparation: ready.took, ..Tested::at_once(Answer::Runs { shown: 0, hidden: 1 }, evidence) }
    }

    /// The command that shows what a subject does.
    pub(crate) fn command(&self, subject: &Subject) -> String {
        let subject = &self.as_told(subject);
        call(&match &self.request.question {
            Question::Build => requests::build(subject).words(),
            Question::Metric { .. } => requests::measure(self.request, subject, 1).words(),
            _ => requests::run(self.request, subject, 1).words(),
        })
    }

    /// The subject as somebody else can name it: with a configuration of its own in a file that stays.
    fn as_told(&self, subject: &Subject) -> Subject {
        let Some(configuration) = &subject.configuration else { return subject.clone() };
        let mut hash = PartsHash::default();
        hash.part(configuration);
        let path = self.directory.join(format!("{}.config", &hash.finish()[..NAME]));
        // Who cannot write it will not be able to write the report either, which says so.
        let _ = std::fs::write(&path, configuration);
        Subject { recipe: configured(&subject.recipe, &path), ..subject.clone() }
    }

    fn answer(
        &self,
        ready: &Ready<'_>,
        jobs: usize,
        heard: &mut dyn FnMut(Progress),
    ) -> Result<Tested, Error> {
        let share = Share { times: ready.test.times, jobs };
        let tested = match self.request.question {
            Question::Build => Ok(self.built(ready)),
            Question::Metric { .. } => {
                in_shares(share, heard, |boots, heard| figures::measure(self, ready, boots, heard))
            }
            // They boot each time.
            Question::Boot | Question::Log(_) => in_shares(share, heard, |times, heard| {
                runs::run(self, ready, Share { times, jobs: 1 }, heard)
            }),
            Question::Case(_) | Question::Program(_) => runs::run(self, ready, share, heard),
        };
        if self.is_interrupted() { Err(Error::Interrupted) } else { tested }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.environment.interrupt.load(Ordering::Relaxed)
    }

    /// What prepares the request of a test, and tells what takes long.
    pub(super) fn preparing<T>(
        &self,
        heard: &mut dyn FnMut(Progress),
        work: impl FnOnce(&mut prepare::Context<'_>) -> T,
    ) -> T {
        let mut told = |text: &str| heard(Progress::Working(text.to_string()));
        let waiting = Waiting { interrupt: self.environment.interrupt, progress: &mut told };
        work(&mut prepare::Context { backend: self.environment.backend, waiting })
    }
}

impl Tester for KernelTester<'_> {
    fn test(&mut self, tests: &[Test], heard: &mut dyn FnMut(Progress)) -> Result<Vec<Tested>, Error> {
        // Builds use all CPUs, so they come one after the other.
        let found: Vec<_> = tests.iter().map(|test| self.ready(test, heard)).collect::<Result<_, _>>()?;
        let (mut ready, mut missing) = (Vec::new(), Vec::new());
        for (number, found) in found.into_iter().enumerate() {
            match found {
                Ok(one) => ready.push((number, one)),
                Err(why) => missing.push((number, why)),
            }
        }
        let (numbers, ready): (Vec<usize>, Vec<Ready<'_>>) = ready.into_iter().unzip();
        let answers = match ready.as_slice() {
            [one] => vec![self.answer(one, self.jobs(), heard)],
            several => side_by_side(several, heard, |one, heard| self.answer(one, 1, heard)),
        };
        let mut all: Vec<(usize, Tested)> = missing
            .iter()
            .map(|(number, why)| (*number, self.without_kernel(&tests[*number], why)))
            .collect();
        for (number, answer) in numbers.into_iter().zip(answers) {
            all.push((number, answer?));
        }
        all.sort_by_key(|(number, _)| *number);
        let all: Vec<Tested> = all.into_iter().map(|(_, tested)| tested).collect();
        self.counted.extend(all.iter().flat_map(|tested| tested.evidence.sessions.clone()));
        Ok(all)
    }

    fn look_for(&mut self, evidence: &Evidence) {
        if self.request.search.any_failure {
            return;
        }
        let run = evidence.run.as_ref().filter(|run| run.outcome.accuses_kernel());
        self.way = run.map(|run| Way::of(run.outcome, &run.reason));
        self.errors = evidence.errors.iter().map(|text| masked(text)).collect();
    }

    fn jobs(&self) -> usize {
        // A build takes all CPUs, and times that are measured are those of a host that does nothing else.
        if matches!(self.request.question, Question::Build | Question::Metric { timed: true, .. }) {
            return 1;
        }
        let cpus = self.request.machine.cpus.unwrap_or(1).max(1) as usize;
        let parallel = std::thread::available_parallelism().map_or(1, usize::from);
        self.request.search.jobs.map_or((parallel / cpus).clamp(1, 4), usize::from)
    }
}

/// A recipe with the configuration in a file, and with whatever Kconfig makes of it.
fn configured(recipe: &Recipe, path: &Path) -> Recipe {
    let configurations = vec![path.display().to_string()];
    Recipe { configurations, allow_unmet: true, ..recipe.clone() }
}
