//! Answers the question of a bisection with real kernels in real machines.

use std::path::PathBuf;

use super::builds::{self, Builds};
use super::context::{Context, Ready};
use super::experiments::Trial;
use super::jobs::Jobs;
use super::runs::Runs;
use super::sessions::Sessions;
use super::shares::{Share, in_shares, side_by_side};
use super::{Test, Tested, Tester, figures};
use crate::bisection::Evidence;
use crate::environment::Environment;
use crate::error::Error;
use crate::event::Progress;
use crate::question::Question;
use crate::request::BisectRequest;

/// Tests at a time; a search does not plan more.
const JOBS_MAX: usize = 4;

/// Finds or builds the Kernels, and runs what was asked.
pub(crate) struct KernelTester<'a> {
    context: Context<'a>,
    builds: Builds,
    runs: Runs,
}

impl<'a> KernelTester<'a> {
    /// One that has seen nothing yet; the Runs that are behind `counted` were counted already.
    ///
    /// # Errors
    ///
    /// When sessions cannot be kept.
    pub(crate) fn new(
        request: &'a BisectRequest,
        environment: &'a Environment<'a>,
        directory: PathBuf,
        counted: &[&Evidence],
    ) -> Result<Self, Error> {
        let mut runs = Runs::new(request);
        counted.iter().for_each(|evidence| runs.exclude(evidence));
        let sessions: Vec<String> = counted.iter().flat_map(|evidence| evidence.sessions.clone()).collect();
        let sessions = Sessions::new(&environment.sessions, &sessions)?;
        let context = Context { request, environment, sessions, directory };
        Ok(Self { context, builds: Builds::default(), runs })
    }

    fn answer(
        &self,
        ready: &Ready<'_>,
        jobs: usize,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Tested, Error> {
        let share = Share { boot: ready.test.boot, times: ready.test.times, jobs };
        let tested = match &self.context.request.question {
            Question::Build => Ok(builds::built(&self.context, ready)),
            Question::Metric { .. } => in_shares(share, emit, |part, tell| {
                figures::measure(&self.context, ready, part, &mut |progress| tell(progress))
            }),
            // They boot each time.
            Question::Boot | Question::Log(_) => in_shares(share, emit, |part, tell| {
                let share = Share { times: part.times, jobs: 1, ..share };
                self.runs.run(&self.context, ready, share, &mut |progress| tell(progress))
            }),
            Question::Experiment(choice) => in_shares(share, emit, |part, tell| {
                let trial = Trial { context: &self.context, ready, choice, which: &self.runs };
                trial.runs(part, tell)
            }),
            Question::Recorded(metric) => in_shares(share, emit, |part, tell| {
                let (choice, which) = (&metric.experiment, &self.runs);
                Trial { context: &self.context, ready, choice, which }.figures(&metric.name, part, tell)
            }),
            Question::Case(_) | Question::Program(_) => self.runs.run(&self.context, ready, share, emit),
        };
        if self.context.is_interrupted() { Err(Error::Interrupted) } else { tested }
    }
}

impl KernelTester<'_> {
    /// Tests at a time for which this host has CPUs.
    fn jobs_here(&self) -> usize {
        let cpus = self.context.request.machine.cpus.unwrap_or(1).max(1) as usize;
        let parallel = std::thread::available_parallelism().map_or(1, usize::from);
        (parallel / cpus).clamp(1, JOBS_MAX)
    }
}

impl Tester for KernelTester<'_> {
    fn test(&mut self, tests: &[Test], emit: &mut dyn FnMut(Progress)) -> Result<Vec<Tested>, Error> {
        // Builds use all CPUs, so they come one after the other.
        let found: Vec<_> =
            tests.iter().map(|test| builds::ready(&self.context, test, emit)).collect::<Result<_, _>>()?;
        let (mut ready, mut missing) = (Vec::new(), Vec::new());
        for (number, found) in found.into_iter().enumerate() {
            match found {
                Ok(one) => ready.push((number, one)),
                Err(why) => missing.push((number, why)),
            }
        }
        let (numbers, ready): (Vec<usize>, Vec<Ready<'_>>) = ready.into_iter().unzip();
        let answers = match ready.as_slice() {
            all if self.context.environment.on_slurm => {
                Jobs::new(&self.context, &self.runs).test(all, emit)?.into_iter().map(Ok).collect()
            }
            [one] => vec![self.answer(one, self.jobs(), emit)],
            several => {
                side_by_side(several, emit, |one, tell| self.answer(one, 1, &mut |progress| tell(progress)))
            }
        };
        let mut all: Vec<(usize, Tested)> = missing
            .iter()
            .map(|(number, why)| (*number, self.builds.without_kernel(&self.context, &tests[*number], why)))
            .collect();
        for (number, answer) in numbers.into_iter().zip(answers) {
            all.push((number, answer?));
        }
        all.sort_by_key(|(number, _)| *number);
        let all: Vec<Tested> = all.into_iter().map(|(_, tested)| tested).collect();
        all.iter().for_each(|tested| self.runs.exclude(&tested.evidence));
        Ok(all)
    }

    fn look_for(&mut self, evidence: &Evidence) {
        if self.context.request.search.any_failure {
            return;
        }
        self.runs.look_for(evidence);
        self.builds.look_for(evidence);
    }

    fn jobs(&self) -> usize {
        // A build takes all CPUs, and times that are measured are those of a host that does nothing else.
        let question = &self.context.request.question;
        if matches!(question, Question::Build) || question.measured().is_some_and(|metric| metric.is_timed) {
            return 1;
        }
        let usual = if self.context.environment.on_slurm { JOBS_MAX } else { self.jobs_here() };
        self.context.request.search.jobs.map_or(usual, usize::from)
    }

    fn keeps_machines(&self) -> bool {
        !self.context.environment.on_slurm
    }
}
