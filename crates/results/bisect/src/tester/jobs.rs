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
use super::{Tested, requests};
use crate::error::Error;
use crate::event::Progress;

/// Runs of a session from which on its boot takes a small part of its time.
const MANY: u32 = 10;

/// What a test comes to before its jobs have run: how they are to be asked, or why it cannot be made.
type Begun<'a> = Result<Asked<'a>, String>;

/// A test with the Runs that there are of it, and what its jobs are asked for the others.
struct Asked<'a> {
    ready: &'a Ready<'a>,
    tally: Tally<'a>,
    wanted: Vec<Wanted>,
    /// How many sessions these are.
    jobs: usize,
}

/// Makes tests; an answer for each, in their order.
///
/// # Errors
///
/// When a test cannot be asked for, Slurm is gone, a job gives no result, or the user wants to stop: the jobs go on.
pub(super) fn test(
    context: &Context<'_>,
    runs: &Runs,
    several: &[Ready<'_>],
    emit: &mut dyn FnMut(Progress),
) -> Result<Vec<Tested>, Error> {
    let mut begun: Vec<Begun<'_>> = Vec::new();
    for ready in several {
        begun.push(match ask(context, runs, ready, emit) {
            Ok(asked) => Ok(asked),
            Err(Failure::OfKernel(why)) => Err(why),
            Err(Failure::Of(error)) => return Err(error),
        });
    }
    let start = Instant::now();
    let wanted = begun.iter_mut().flatten().flat_map(|asked| std::mem::take(&mut asked.wanted)).collect();
    let sessions = sessions(context, wanted, emit)?;
    let mut sessions = sessions.into_iter();
    let mut take = |(ready, begun): (&Ready<'_>, Begun<'_>)| match begun {
        Ok(asked) => asked.answer(context, runs, &mut sessions, start.elapsed()),
        Err(why) => Ok(cannot_test(context, ready, why)),
    };
    several.iter().zip(begun).map(&mut take).collect()
}

/// The sessions of all jobs.
fn sessions(
    context: &Context<'_>,
    wanted: Vec<Wanted>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Vec<Past>, Error> {
    let environment = context.environment;
    let (backend, interrupt) = (environment.backend, environment.interrupt);
    let place = Place { backend, sessions: &environment.sessions, interrupt };
    let found = slurm::sessions(wanted, place, &mut |progress| emit(progress.into()))?;
    let missing = found.iter().filter(|session| session.is_none()).count();
    if missing > 0 {
        return Err(Error::Broken(format!("{missing} of {} jobs gave no result", found.len())));
    }
    Ok(found.into_iter().flatten().collect())
}

impl Asked<'_> {
    /// Takes in the sessions of its jobs, which come next.
    fn answer(
        mut self,
        context: &Context<'_>,
        runs: &Runs,
        sessions: &mut dyn Iterator<Item = Past>,
        waited: Duration,
    ) -> Result<Tested, Error> {
        let before = self.tally.runs();
        let (mut running, mut took) = (Duration::ZERO, Duration::ZERO);
        for session in sessions.take(self.jobs) {
            if runs.is_counted(&session.name()) {
                continue;
            }
            context.sessions.keep(&session)?;
            self.tally.sessions.push(session.name());
            took = took.max(session.took().unwrap_or_default());
            for run in session.runs() {
                running += duration(&run);
                self.tally.take_kept(&run);
            }
        }
        // What a run costs beside its case is seen in a session of many; how long a boot takes, in one of few.
        if self.tally.runs() - before >= MANY {
            running = running.max(took);
        }
        let booting = if self.jobs > 0 { waited.saturating_sub(running) } else { Duration::ZERO };
        tested(context, self.ready, self.tally, &Spent { booting, running })
    }
}

/// Time of all Runs that one stands for.
fn duration(run: &Run) -> Duration {
    let all = run.repeats.iter().map(|repeat| repeat.duration);
    all.reduce(Duration::saturating_add).unwrap_or(run.duration)
}

/// Takes in the Runs of earlier sessions, and says which are missing.
fn ask<'a>(
    context: &'a Context<'_>,
    runs: &'a Runs,
    ready: &'a Ready<'a>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Asked<'a>, Failure> {
    let share = Share { boot: ready.test.boot, times: ready.test.times, jobs: 1 };
    let Parts { mut prepared, session } = prepare(context, ready, share, emit)?;
    // A node has no kernel that was built here, unless it shares the cache; it can build what has a name.
    if ready.test.subject.configuration.is_none() {
        prepared.request.kernel = requests::build(&ready.test.subject);
    }
    let mut tally = runs.tally(&context.request.question);
    runs.add_earlier(context, &session, share.boot, &mut tally)?;
    let durations = Durations::load(&context.environment.sessions);
    let missing = share.times.saturating_sub(tally.runs());
    let wanted = policies(context, ready, missing, &prepared.request.policy).into_iter().map(|policy| {
        Wanted::of((&prepared, &session), &policy, ready.test.subject.name.clone(), &durations)
    });
    let wanted: Vec<Wanted> = wanted.collect::<Result<_, _>>().map_err(Error::from)?;
    let jobs = wanted.len();
    Ok(Asked { ready, tally, wanted, jobs })
}

/// What asks for Runs of a test: those of a boot are one job, and where each is a boot, each is a job.
fn policies(context: &Context<'_>, ready: &Ready<'_>, missing: u32, usual: &RunPolicy) -> Vec<RunPolicy> {
    let first = |first_boot| RunPolicy { first_boot, first_run: ready.test.before, ..usual.clone() };
    if !context.request.question.nests_runs() {
        return (0..missing).map(|number| first(ready.test.boot.saturating_add(number))).collect();
    }
    let all = RunPolicy { repeat: Some(missing), ..first(ready.test.boot) };
    if missing > 0 { vec![all] } else { Vec::new() }
}
