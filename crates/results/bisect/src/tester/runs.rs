//! A test that runs cases: its session is kept like any other, and what others have found out counts.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use judge::parameters::unknown;
use judge::signature::Way;
use lab::event::Session;
use lab::prepare::Execution;
use lab::request::KernelRequest;
use lab::{Event, Isolation, Listener, Prepared, Request, Suite};
use ledger::Recorder;

use super::context::{Context, Ready};
use super::failure::Failure;
use super::shares::Share;
use super::tally::{Tally, small};
use super::{Tested, parameters, requests};
use crate::answer::Answer;
use crate::axis::Subject;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;
use crate::question::Question;
use crate::request::BisectRequest;

/// Runs at most of earlier sessions that count: a bisection wants to see for itself, too.
const REUSED_MAX: u32 = 50;

/// Which Runs count.
pub(super) struct Runs {
    /// How the failure looks that is searched for, once it was seen.
    way: Option<Way>,
    /// Sessions, and folders of an experiment's runs, that were counted already.
    counted: HashSet<String>,
    /// What the case says about itself whose Runs in other sessions count.
    about: Option<String>,
}

/// What a test is made of.
pub(super) struct Parts {
    pub(super) prepared: Prepared,
    pub(super) session: Session,
}

/// What counts, and where progress goes.
struct Round<'r, 'q> {
    tally: &'r mut Tally<'q>,
    spent: &'r mut Spent,
    unknown: &'r mut Vec<String>,
    emit: &'r mut dyn FnMut(Progress),
}

/// Time that was spent.
#[derive(Default)]
pub(super) struct Spent {
    pub(super) booting: Duration,
    pub(super) running: Duration,
}

impl Runs {
    /// All of what is asked for.
    pub(super) fn new(request: &BisectRequest) -> Self {
        Self { way: None, counted: HashSet::new(), about: about(request) }
    }

    /// From now on, the Runs that are behind this were counted.
    pub(super) fn exclude(&mut self, evidence: &Evidence) {
        self.counted.extend(evidence.sessions.iter().chain(&evidence.runs).cloned());
    }

    /// Whether the Runs of a session, or that of a folder, were counted already.
    pub(super) fn is_counted(&self, name: &str) -> bool {
        self.counted.contains(name)
    }

    /// From now on, only failures like this one count.
    pub(super) fn look_for(&mut self, evidence: &Evidence) {
        let run = evidence.run.as_ref().filter(|run| run.outcome.is_failure());
        self.way = run.map(|run| Way::of(run.outcome, &run.reason));
    }

    /// Counts Runs that answer a question.
    pub(super) fn tally<'t>(&'t self, question: &'t Question) -> Tally<'t> {
        Tally::new(question, self.way.as_ref())
    }

    /// Runs the case or the program so often.
    pub(super) fn run(
        &self,
        context: &Context<'_>,
        ready: &Ready<'_>,
        share: Share,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Tested, Error> {
        let mut tally = self.tally(&context.request.question);
        let (mut spent, mut unknown) = (Spent::default(), Vec::new());
        while tally.runs() < share.times && !tally.is_over() {
            let missing = Share { times: share.times - tally.runs(), ..share };
            let before = tally.runs();
            let round = Round { tally: &mut tally, spent: &mut spent, unknown: &mut unknown, emit };
            let done = self.round(context, ready, missing, round);
            if context.is_interrupted() {
                return Err(Error::Interrupted);
            }
            match done {
                Ok(()) => {}
                Err(Failure::OfKernel(why)) => {
                    return Ok(cannot_test(context, ready, why));
                }
                Err(Failure::Of(error)) => return Err(error),
            }
            if tally.runs() == before {
                break;
            }
        }
        Ok(Tested { unknown, ..tested(context, ready, tally, &spent)? })
    }

    /// Takes in the Runs of earlier sessions, or else makes some.
    fn round(
        &self,
        context: &Context<'_>,
        ready: &Ready<'_>,
        share: Share,
        round: Round<'_, '_>,
    ) -> Result<(), Failure> {
        let parts = prepare(context, ready, share, round.emit)?;
        if round.tally.runs() == 0 {
            self.add_earlier(context, &parts.session, share.boot, round.tally)?;
            if round.tally.runs() > 0 {
                return Ok(());
            }
        }
        session_of(context, &ready.test.subject, &parts, round)
    }

    /// Runs of earlier sessions with the same kernel, parameters, machine, isolation and case, by the same agent.
    ///
    /// A program may have the name of a case, but not say the same about itself.
    pub(super) fn add_earlier(
        &self,
        context: &Context<'_>,
        now: &Session,
        boot: u32,
        tally: &mut Tally<'_>,
    ) -> Result<(), ledger::Error> {
        let Some((about, case)) = self.about.as_ref().zip(now.cases.first()) else { return Ok(()) };
        for past in context.sessions.earlier() {
            if tally.runs() >= REUSED_MAX {
                break;
            }
            let is_like = past.session().is_ok_and(|before| {
                (&before.identity, &before.machine, &before.content, isolation(&before))
                    == (&now.identity, &now.machine, &now.content, isolation(now))
                    && before.cases.contains(case)
                    && before.origin.is_none()
                    && boot_of(&before) == boot
            });
            if !is_like || self.is_counted(&past.name()) {
                continue;
            }
            if let Some(run) = past.run(case).ok().filter(|run| run.about == *about) {
                context.sessions.keep(&past)?;
                tally.take_earlier(&past.name(), &run);
            }
        }
        Ok(())
    }
}

/// What the Runs of a test come to.
pub(super) fn tested(
    context: &Context<'_>,
    ready: &Ready<'_>,
    tally: Tally<'_>,
    spent: &Spent,
) -> Result<Tested, Error> {
    tally.broken()?;
    let reused = tally.reused;
    let each = spent.running / (tally.runs() - reused.min(tally.runs())).max(1);
    let (answer, others, evidence) = tally.answer();
    let command = context.command(&ready.test.subject);
    let evidence = Evidence { release: ready.kernel.release.clone(), command, ..evidence };
    Ok(Tested {
        others,
        reused,
        preparation: ready.took,
        boot: spent.booting,
        each,
        ..Tested::at_once(answer, evidence)
    })
}

/// What a Kernel that does not allow a test answers.
pub(super) fn cannot_test(context: &Context<'_>, ready: &Ready<'_>, why: String) -> Tested {
    let evidence = Evidence { command: context.command(&ready.test.subject), ..Evidence::default() };
    Tested::at_once(Answer::CannotTest(why), evidence)
}

/// The number of the one boot of a session. Runs of several count as if they had shared the usual one: too few boots make
/// nobody too sure.
fn boot_of(session: &Session) -> u32 {
    match session.request.as_ref() {
        Some(Request::Run(request)) if request.policy.boots == Some(1) => request.policy.first_boot,
        _ => 0,
    }
}

/// How the cases of a session were kept apart, if it says so.
fn isolation(session: &Session) -> Option<Isolation> {
    match session.request.as_ref()? {
        Request::Run(request) => Some(request.policy.isolation),
        Request::Kunit(_) | Request::Experiment(_) => None,
    }
}

/// What the case says about itself whose Runs in other sessions count. A program is known by its name only, be it one of
/// a suite, and a boot leaves no Run.
fn about(request: &BisectRequest) -> Option<String> {
    if !matches!(request.question, Question::Case(_)) || request.search.fresh {
        return None;
    }
    match request.suite() {
        Ok(Some(Suite::Own { cases, .. })) => cases.first().map(|case| case.about.to_string()),
        _ => None,
    }
}

pub(super) fn prepare(
    context: &Context<'_>,
    ready: &Ready<'_>,
    share: Share,
    emit: &mut dyn FnMut(Progress),
) -> Result<Parts, Failure> {
    let exact = ready.kernel.exact_locator().parse().map_err(Error::from)?;
    let mut request = requests::run(context.request, &ready.test.subject, share.times);
    request.kernel = KernelRequest::named(exact);
    request.policy.jobs = Some(u16::try_from(share.jobs).unwrap_or(u16::MAX));
    request.policy.first_boot = share.boot;
    request.policy.boots = Some(1);
    let prepared = context.preparing(emit, |context| Prepared::new(&request, context))?;
    let count = prepared.cases().len();
    if count != 1 {
        let text = format!("--case names {count} cases: name one");
        return Err(Error::Usage(text).into());
    }
    let session = prepared.session()?;
    Ok(Parts { prepared, session })
}

/// One session.
fn session_of(
    context: &Context<'_>,
    subject: &Subject,
    parts: &Parts,
    round: Round<'_, '_>,
) -> Result<(), Failure> {
    let Parts { prepared, session } = parts;
    let Round { tally, spent, unknown, emit } = round;
    let machines = prepared.machines(context.environment.backend)?;
    let recorder = context.sessions.begin(session, emit)?;
    tally.sessions.push(recorder.name());
    prepared.program().map_or(Ok(()), |program| recorder.keep_program(program))?;
    let options = prepared.options().options;
    let interrupt = context.environment.interrupt;
    let execution = Execution { machines: &machines, options, golden: None, interrupt };
    let start = Instant::now();
    let said = prepared.request.machine.append.join(" ");
    let mut listener = Counting { recorder, tally, emit, first: None, said: &said, unknown };
    let outcome = prepared.run(session.clone(), execution, &mut listener);
    let begun = listener.first.unwrap_or_else(Instant::now);
    listener.recorder.finish()?;
    outcome?;
    parameters::refuse(context.request, subject, unknown)?;
    spent.booting += begun - start;
    spent.running += begun.elapsed();
    Ok(())
}

/// Records a session and counts what it says.
struct Counting<'h, 'q> {
    recorder: Recorder,
    tally: &'h mut Tally<'q>,
    emit: &'h mut dyn FnMut(Progress),
    /// When the first case began.
    first: Option<Instant>,
    /// The kernel parameters of the subject.
    said: &'h str,
    /// Those of them that the kernel does not know.
    unknown: &'h mut Vec<String>,
}

impl Listener for Counting<'_, '_> {
    fn on_event(&mut self, event: &Event) {
        self.recorder.on_event(event);
        match event {
            Event::Booting { .. } => (self.emit)(Progress::Working("booting".to_string())),
            Event::Started { case, .. } => {
                self.first.get_or_insert_with(Instant::now);
                (self.emit)(Progress::Working(format!("running {case}")));
            }
            Event::Console { line, .. } => {
                self.unknown.extend(unknown([line.as_str()], self.said));
                self.tally.line(line);
            }
            Event::Repeated(run) => self.tally.take(small(run)),
            // The sum of those that were reported one by one.
            Event::Finished(run) if !run.repeats.is_empty() => {}
            Event::Finished(run) => self.tally.take(small(run)),
            Event::Planned(_)
            | Event::Note { .. }
            | Event::CommandLine { .. }
            | Event::Output { .. }
            | Event::Hazard { .. }
            | Event::Waited { .. }
            | Event::Booted { .. }
            | Event::Recorded { .. }
            | Event::Ended { .. } => {}
        }
    }
}
