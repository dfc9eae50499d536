//! A run of a script: its steps one after the other, from the journal as far as they are complete there.

use std::cell::RefCell;

use judge::{Blame, Outcome};
use serde_json::Value as Json;
use starlark::values::FrozenValue;

use crate::bench::Bench;
use crate::context::{Context, Counts, Phase, Record, Registered, Scene, Session};
use crate::data::{Data, ObjectKind};
use crate::event::{Event, Listener};
use crate::execute::{call, in_thread};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::journal::{Journal, Replay, Store};
use crate::load::load;
use crate::native::method;
use crate::problem::Problem;
use crate::random::Random;
use crate::setup::Setup;
use crate::stop::Stop;
use crate::verdict::Verdict;

impl Experiment {
    /// Runs the script, from where an earlier run left the journal.
    ///
    /// Everything that goes wrong is in the verdict: there is no way to fail beside it.
    pub fn run(
        &self,
        setup: &Setup,
        bench: &dyn Bench,
        journal: &mut (dyn Store + Send),
        listener: &(dyn Listener + Sync),
    ) -> Verdict {
        let run = move || self.run_here(setup, bench, journal, listener);
        in_thread(&setup.limits, run).unwrap_or_else(|stop| verdict(unplaced(stop), None))
    }

    fn run_here(
        &self,
        setup: &Setup,
        bench: &dyn Bench,
        store: &mut (dyn Store + Send),
        listener: &(dyn Listener + Sync),
    ) -> Verdict {
        let opened = Journal::open(store, &self.identity(setup));
        let (journal, replay) = match opened {
            Ok(opened) => opened,
            Err(error) => return Verdict::broken(Blame::Host, Problem::new(error.to_string())),
        };
        let chronicle = Chronicle { journal: RefCell::new(journal), listener };
        let session = self.session(setup, bench);
        let run = Run { session: &session, chronicle: &chronicle };
        run.all(self, setup, replay)
    }

    /// What all parts of a run have in common.
    pub(crate) fn session<'s>(&'s self, setup: &'s Setup, bench: &'s dyn Bench) -> Session<'s> {
        Session {
            bench,
            metadata: self.metadata(),
            files: &self.files,
            folder: &self.folder,
            limits: &setup.limits,
            seed: setup.seed,
            lab: setup.lab(),
            method,
        }
    }
}

/// Keeps what steps record, and tells it.
struct Chronicle<'r, 's> {
    journal: RefCell<Journal<'s, dyn Store + Send + 's>>,
    listener: &'r (dyn Listener + Sync),
}

impl Record for Chronicle<'_, '_> {
    /// What cannot be kept is not told: a run that goes on must not know less than its listener.
    fn record(&self, event: Event) -> Result<(), Stop> {
        let written = self.journal.borrow_mut().event(&event);
        written.map_err(|error| Stop::broken(Blame::Host, error.to_string()))?;
        self.listener.event(&event);
        Ok(())
    }
}

/// What went wrong at no place of the script.
pub(crate) fn unplaced(stop: Stop) -> Failure {
    Failure { outcome: stop.outcome, blame: stop.blame, problem: Problem::new(stop.text) }
}

struct Run<'r, 's> {
    session: &'r Session<'r>,
    chronicle: &'r Chronicle<'r, 's>,
}

/// A step that is run.
struct Step<'r> {
    index: u32,
    registered: &'r Registered,
    function: FrozenValue,
}

impl Run<'_, '_> {
    fn all(&self, experiment: &Experiment, setup: &Setup, replay: Replay) -> Verdict {
        if let Some(verdict) = replay.verdict {
            replay.steps.iter().for_each(|step| self.tell_again(&step.events));
            self.tell_again(&replay.rest);
            return verdict;
        }
        let verdict = self.steps(experiment, setup, replay).err().unwrap_or_else(Verdict::pass);
        let concluded = || self.chronicle.journal.borrow_mut().concluded(&verdict);
        match verdict.is_final().then(concluded) {
            Some(Err(error)) => Verdict::broken(Blame::Host, Problem::new(error.to_string())),
            _ => verdict,
        }
    }

    fn steps(&self, experiment: &Experiment, setup: &Setup, replay: Replay) -> Result<(), Verdict> {
        self.check_kernels(setup)?;
        let script = load(self.session, experiment).map_err(|failure| verdict(failure, None))?;
        let mut completed = replay.steps.into_iter();
        let mut values: Vec<Json> = Vec::new();
        for (index, (registered, function)) in (0_u32..).zip(script.steps()) {
            let value = match completed.next() {
                Some(earlier) => {
                    self.tell_again(&earlier.events);
                    earlier.value
                }
                None => self.step(&Step { index, registered, function }, &values)?,
            };
            values.push(value);
        }
        Ok(())
    }

    fn check_kernels(&self, setup: &Setup) -> Result<(), Verdict> {
        let (needs, has) = (self.session.metadata.kernels, setup.kernels.len());
        if usize::try_from(needs).is_ok_and(|needs| has >= needs) {
            return Ok(());
        }
        let problem = Problem::new(format!("the experiment takes {needs} kernels, not {has}"));
        Err(Verdict { outcome: Outcome::Skip, blame: None, step: None, problem: Some(Box::new(problem)) })
    }

    /// What a complete step recorded is told as it was.
    fn tell_again(&self, events: &[Event]) {
        for event in events {
            let told = match event {
                Event::Started { step, .. } => Event::Started { step: step.clone(), resumed: true },
                other => other.clone(),
            };
            self.chronicle.listener.event(&told);
        }
    }

    fn step(&self, step: &Step<'_>, values: &[Json]) -> Result<Json, Verdict> {
        let name = &step.registered.name;
        let ended = self.record(Event::Started { step: name.clone(), resumed: false }).and_then(|()| {
            let done = self.execute(step, values);
            let unseen =
                self.session.bench.end_step(name).map_err(|trouble| unplaced(Stop::trouble(trouble)));
            done.and_then(|value| unseen.map(|()| value))
        });
        let (outcome, reason) = match &ended {
            Ok(_) => (Outcome::Pass, None),
            Err(failure) => (failure.outcome, Some(failure.problem.text.clone())),
        };
        let told = self.record(Event::Ended { step: name.clone(), outcome, reason });
        let value = ended.and_then(|value| told.map(|()| value));
        let value = value.map_err(|failure| verdict(failure, Some(name)))?;
        let kept = self.chronicle.journal.borrow_mut().completed(name, &value);
        kept.map_err(|error| Verdict::broken(Blame::Host, Problem::new(error.to_string())))?;
        Ok(value)
    }

    fn record(&self, event: Event) -> Result<(), Failure> {
        self.chronicle.record(event).map_err(unplaced)
    }

    fn execute(&self, step: &Step<'_>, values: &[Json]) -> Result<Json, Failure> {
        let counts = Counts::default();
        let scene = Scene {
            step: step.index,
            name: &step.registered.name,
            branch: Vec::new(),
            record: self.chronicle,
            random: RefCell::new(Random::new(self.session.seed, step.index, &[])),
            counts: &counts,
            group: None,
        };
        let context = Context::new(self.session, Phase::Scene(scene));
        let arguments = step.registered.arguments.iter().map(|argument| resolved(argument, values));
        let (at, files) = (&step.registered.at, self.session.files);
        let returned = call(&context, step.function, &arguments.collect::<Vec<_>>());
        let returned = returned.map_err(|failure| failure.at(at, files))?;
        let plain = returned.plain().map_err(|what| Failure {
            outcome: Outcome::Broken,
            blame: Some(Blame::Case),
            problem: Problem::new(format!("the step {} returns {what}", step.registered.name))
                .help("machines end with their step: return plain data"),
        });
        plain.map_err(|failure| failure.at(at, files))
    }
}

/// What earlier steps returned stands where the script passes the step.
fn resolved(argument: &Data, values: &[Json]) -> Data {
    let all = |items: &[(String, Data)]| {
        items.iter().map(|(name, value)| (name.clone(), resolved(value, values))).collect()
    };
    match argument {
        Data::Object(object) if object.kind == ObjectKind::Returned => {
            let value = usize::try_from(object.id).ok().and_then(|index| values.get(index));
            value.map_or(Data::None, Data::from)
        }
        Data::List(items) => Data::List(items.iter().map(|item| resolved(item, values)).collect()),
        Data::Map(entries) => Data::Map(all(entries)),
        Data::Struct(fields) => Data::Struct(all(fields)),
        other => other.clone(),
    }
}

fn verdict(failure: Failure, step: Option<&str>) -> Verdict {
    let Failure { outcome, blame, problem } = failure;
    Verdict { outcome, blame, step: step.map(str::to_owned), problem: Some(Box::new(problem)) }
}
