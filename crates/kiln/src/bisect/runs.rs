//! A test that is a `kiln run`: its session is kept like any other, and what others have found out counts.

use std::path::Path;
use std::time::{Duration, Instant};

use bisect::{Answer, Error, Evidence, Progress, Question, Tested};
use clap::Parser;
use judge::Run;
use lab::decode::Decoding;
use lab::event::Session;
use lab::{Event, Listener, Runner, Suite};
use ledger::Recorder;

use super::identity::opened;
use super::laboratory::{Laboratory, Ready, tested};
use super::tally::{Tally, small};
use super::words;
use crate::cli::{self, Bisect, Cli, Verb};
use crate::prepare::Prepared;
use crate::session;

/// Runs at most of earlier sessions that count: a bisection wants to see for itself, too.
const REUSED_MAX: u32 = 50;

/// What a test is made of.
struct Parts {
    said: Box<cli::Run>,
    prepared: Prepared,
    session: Session,
}

/// Runs the case or the program so many times, up to `jobs` at a time.
pub(crate) fn run(
    laboratory: &Laboratory<'_>,
    ready: &Ready<'_>,
    (times, jobs): (u32, usize),
    heard: &mut dyn FnMut(Progress),
) -> Result<Tested, Error> {
    let mut tally = Tally::new(laboratory.question, laboratory.way.as_ref());
    let mut spent = Spent { preparation: ready.took, ..Spent::default() };
    while tally.runs() < times && !tally.is_over() {
        let missing = times - tally.runs();
        let parts = match prepare(laboratory, ready, (missing, jobs)) {
            Ok(parts) => parts,
            Err(error) => return cannot(laboratory, ready, error),
        };
        if tally.runs() == 0
            && let Some(about) = &laboratory.about
        {
            earlier(laboratory, (&parts.session, about), &mut tally);
            if tally.runs() > 0 {
                continue;
            }
        }
        let before = tally.runs();
        match session_of(laboratory, &parts, &mut tally, (&mut spent, heard)) {
            Ok(()) => {}
            Err(error) => return cannot(laboratory, ready, error),
        }
        if laboratory.is_interrupted() {
            return Err(Error::Interrupted);
        }
        if tally.runs() == before {
            break;
        }
    }
    tally.broken()?;
    let command = laboratory.command(&ready.test.subject);
    let release = ready.kernel.release.clone();
    let reused = tally.reused;
    let each = spent.running / (tally.runs() - reused.min(tally.runs())).max(1);
    let (answer, others, shown) = tally.answer();
    let evidence = Evidence { release, command, ..shown };
    Ok(Tested { others, reused, preparation: spent.preparation, each, ..tested(answer, evidence) })
}

/// What does not allow a test is the kernel's affair where it could be another one's: the next one may allow it.
fn cannot(laboratory: &Laboratory<'_>, ready: &Ready<'_>, error: anyhow::Error) -> Result<Tested, Error> {
    if laboratory.is_interrupted() {
        return Err(Error::Interrupted);
    }
    let is_of_kernel = error.downcast_ref::<machine::Error>().is_some_and(machine::Error::is_usage);
    if !is_of_kernel {
        return Err(super::error_of(error));
    }
    let evidence = Evidence { command: laboratory.command(&ready.test.subject), ..Evidence::default() };
    Ok(tested(Answer::CannotTest(format!("{error:#}")), evidence))
}

fn prepare(
    laboratory: &Laboratory<'_>,
    ready: &Ready<'_>,
    (times, jobs): (u32, usize),
) -> anyhow::Result<Parts> {
    let (said, question, subject) = (laboratory.said, laboratory.question, &ready.test.subject);
    let exact = ready.kernel.exact_locator().parse()?;
    let mut words = words::of_test(said, question, subject, (Some(&exact), times));
    words.splice(1..1, ["--jobs".to_string(), jobs.to_string()]);
    let name = std::iter::once("kiln").chain(words.iter().map(String::as_str));
    let Verb::Run(run) = Cli::try_parse_from(name)?.verb else { anyhow::bail!("a test is no run") };
    let prepared = Prepared::new(&run, &run.kernel, laboratory.interrupt)?;
    let cases = prepared.cases();
    if cases.len() != 1 {
        let text = format!("--case names {} cases: a bisection asks about one", cases.len());
        return Err(crate::failure::WrongUsage(text).into());
    }
    let session = session::begin(&run.kernel, &prepared.kernel, &prepared.specs, prepared.suite(), cases);
    Ok(Parts { said: run, prepared, session: Session { command: words, ..session } })
}

/// Runs of earlier sessions with the same kernel, parameters, machine and case. A program may have the name of a case,
/// but not say the same `about` itself.
fn earlier(laboratory: &Laboratory<'_>, (now, about): (&Session, &str), tally: &mut Tally<'_>) {
    for past in ledger::sessions(&ledger::default_root()) {
        if tally.runs() >= REUSED_MAX {
            return;
        }
        let Some(case) = now.cases.first() else { return };
        let is_like = past.session().is_ok_and(|before| {
            (&before.identity, &before.machine) == (&now.identity, &now.machine)
                && before.cases.contains(case)
        });
        if !is_like || laboratory.counted.contains(&past.name()) {
            continue;
        }
        if let Some(run) = past.run(case).ok().filter(|run| run.about == about) {
            tally.take_earlier(&past.name(), &run);
        }
    }
}

/// Time that was spent.
#[derive(Default)]
struct Spent {
    preparation: Duration,
    running: Duration,
}

/// One session.
fn session_of(
    laboratory: &Laboratory<'_>,
    parts: &Parts,
    tally: &mut Tally<'_>,
    (spent, heard): (&mut Spent, &mut dyn FnMut(Progress)),
) -> anyhow::Result<()> {
    let Parts { said, prepared, session } = parts;
    let sources = prepared.sources(said)?;
    let recorder = session::recorder(session, None)?;
    tally.sessions.push(name_of(recorder.directory()));
    let (options, _) = said.course.options(prepared.engine, &prepared.specs);
    let start = Instant::now();
    let mut listener = Hearing { recorder, tally, heard, first: None };
    let outcome = {
        let mut decoding = Decoding::of(&prepared.kernel, &mut listener);
        Runner::new(&mut decoding, laboratory.interrupt, options)
            .run(session.clone(), &prepared.parts(&sources))
    };
    let begun = listener.first.unwrap_or_else(Instant::now);
    listener.recorder.finish()?;
    outcome?;
    spent.preparation += begun - start;
    spent.running += begun.elapsed();
    Ok(())
}

fn name_of(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Records a session and counts what it says.
struct Hearing<'h, 'q> {
    recorder: Recorder,
    tally: &'h mut Tally<'q>,
    heard: &'h mut dyn FnMut(Progress),
    /// When the first case began.
    first: Option<Instant>,
}

impl Listener for Hearing<'_, '_> {
    fn hear(&mut self, event: &Event) {
        self.recorder.hear(event);
        match event {
            Event::Booting { .. } => (self.heard)(Progress::Working("booting".to_string())),
            Event::Started { case, .. } => {
                self.first.get_or_insert_with(Instant::now);
                (self.heard)(Progress::Working(format!("running {case}")));
            }
            Event::Console { line, .. } => self.tally.line(line),
            Event::Repeated(run) => self.tally.take(small(run)),
            // The sum of those that were told one by one.
            Event::Finished(run) if !run.repeats.is_empty() => {}
            Event::Finished(run) => self.tally.take(small(run)),
            Event::Planned(_)
            | Event::Note { .. }
            | Event::CommandLine { .. }
            | Event::Booted { .. }
            | Event::Ended { .. } => {}
        }
    }
}

/// What the case says about itself whose Runs in other sessions count. A program is known by its name only, be it one of
/// a suite, and a boot leaves no Run.
pub(crate) fn about(said: &Bisect, question: &Question) -> Option<String> {
    if !matches!(question, Question::Case(_)) || said.fresh {
        return None;
    }
    match opened(said) {
        Ok(Suite::Own { cases, .. }) => cases.first().map(|case| case.about.to_string()),
        _ => None,
    }
}

impl Laboratory<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Whether a Run is that of a boot and not of a case.
pub(crate) fn is_boot(run: &Run) -> bool {
    run.case == "boot"
}
