//! Tests of cases and programs as jobs of Slurm's: those that are wanted together are one array.

use std::time::{Duration, Instant};

use judge::Run;
use lab::request::RunPolicy;
use ledger::{Durations, Past, Place};
use slurm::Wanted;

use super::context::{Context, Ready};
use super::failure::Failure;
use super::runs::{Parts, Runs, Spent, cannot_test, prepare, tested};
use super::shares::Share;
use super::tally::Tally;
use super::{Test, Tested, requests};
use crate::error::Error;
use crate::event::Progress;

/// Runs of a session from which on its boot takes a small part of its time.
const MANY: u32 = 10;

/// Makes tests of which the Runs are made by jobs.
pub(super) struct Jobs<'a> {
    context: &'a Context<'a>,
    runs: &'a Runs,
    durations: Durations,
}

/// A test with the Runs that there are of it.
struct Asked<'a> {
    ready: &'a Ready<'a>,
    tally: Tally<'a>,
    /// How many jobs make the others.
    jobs: usize,
}

impl<'a> Jobs<'a> {
    /// Of these Runs only those count that `runs` does not know yet.
    pub(super) fn new(context: &'a Context<'a>, runs: &'a Runs) -> Self {
        Self { context, runs, durations: Durations::load(&context.environment.sessions) }
    }

    /// Makes tests; an answer for each, in their order.
    ///
    /// # Errors
    ///
    /// When a test cannot be asked for, Slurm is gone, a job gives no result, or the user wants to stop: the jobs go on.
    pub(super) fn test(
        &self,
        several: &'a [Ready<'a>],
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Tested>, Error> {
        let (mut begun, mut wanted) = (Vec::new(), Vec::new());
        for ready in several {
            begun.push(match self.ask(ready, &mut wanted, emit) {
                Ok(asked) => Ok(asked),
                Err(Failure::OfKernel(why)) => Err(cannot_test(self.context, ready, why)),
                Err(Failure::Of(error)) => return Err(error),
            });
        }
        let start = Instant::now();
        let mut sessions = self.sessions(wanted, emit)?.into_iter();
        let waited = start.elapsed();
        begun
            .into_iter()
            .map(|one| one.map_or_else(Ok, |asked| self.answer(asked, &mut sessions, waited)))
            .collect()
    }

    /// Takes in the Runs of earlier sessions, and adds what asks for those that are missing.
    fn ask(
        &self,
        ready: &'a Ready<'a>,
        wanted: &mut Vec<Wanted>,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Asked<'a>, Failure> {
        let Test { boot, times, subject, .. } = ready.test;
        let share = Share { boot: *boot, times: *times, jobs: 1 };
        let Parts { mut prepared, session } = prepare(self.context, ready, share, emit)?;
        // A node has no kernel that was built here, unless it shares the cache; it can build what has a name.
        if subject.configuration.is_none() {
            prepared.request.kernel = requests::build(subject);
        }
        let mut tally = self.runs.tally(&self.context.request.question);
        self.runs.add_earlier(self.context, &session, *boot, &mut tally)?;
        let missing = times.saturating_sub(tally.runs());
        let policies = self.policies(ready.test, missing, &prepared.request.policy);
        for policy in &policies {
            let about = subject.name.clone();
            let one = Wanted::of((&prepared, &session), policy, about, &self.durations);
            wanted.push(one.map_err(Error::from)?);
        }
        Ok(Asked { ready, tally, jobs: policies.len() })
    }

    /// What asks for Runs of a test: those of a boot are one job, and where each is a boot, each is a job.
    fn policies(&self, test: &Test, missing: u32, usual: &RunPolicy) -> Vec<RunPolicy> {
        let first = |first_boot| RunPolicy { first_boot, first_run: test.before, ..usual.clone() };
        if !self.context.request.question.nests_runs() {
            return (0..missing).map(|number| first(test.boot.saturating_add(number))).collect();
        }
        let all = RunPolicy { repeat: Some(missing), ..first(test.boot) };
        if missing > 0 { vec![all] } else { Vec::new() }
    }

    /// The sessions of all jobs.
    fn sessions(&self, wanted: Vec<Wanted>, emit: &mut dyn FnMut(Progress)) -> Result<Vec<Past>, Error> {
        let environment = self.context.environment;
        let (backend, interrupt) = (environment.backend, environment.interrupt);
        let place = Place { backend, sessions: &environment.sessions, interrupt };
        let found = slurm::sessions(wanted, place, &mut |progress| emit(progress.into()))?;
        let missing = found.iter().filter(|session| session.is_none()).count();
        if missing > 0 {
            return Err(Error::Broken(format!("{missing} of {} jobs gave no result", found.len())));
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Takes in the sessions of a test, which come next.
    fn answer(
        &self,
        Asked { ready, mut tally, jobs }: Asked<'_>,
        sessions: &mut dyn Iterator<Item = Past>,
        waited: Duration,
    ) -> Result<Tested, Error> {
        let before = tally.runs();
        let (mut running, mut took) = (Duration::ZERO, Duration::ZERO);
        for session in sessions.take(jobs).filter(|session| !self.runs.is_counted(&session.name())) {
            self.context.sessions.keep(&session)?;
            tally.sessions.push(session.name());
            took = took.max(session.took().unwrap_or_default());
            for run in session.runs() {
                running += duration(&run);
                tally.take_kept(&run);
            }
        }
        // What a run costs beside its case is seen in a session of many; how long a boot takes, in one of few.
        if tally.runs() - before >= MANY {
            running = running.max(took);
        }
        let booting = if jobs > 0 { waited.saturating_sub(running) } else { Duration::ZERO };
        tested(self.context, ready, tally, &Spent { booting, running })
    }
}

/// Time of all Runs that one stands for.
fn duration(run: &Run) -> Duration {
    let all = run.repeats.iter().map(|repeat| repeat.duration);
    all.reduce(Duration::saturating_add).unwrap_or(run.duration)
}
