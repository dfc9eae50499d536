//! A machine that plays a scenario, and where it comes from.
//!
//! A [`World`] says what each case and each boot does; [`World::run`] plays it through the real Runner
//! and gives the [`Story`], whose order of events has been checked.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lab::event::Session;
use lab::judge::Dialect;
use lab::plan::Item;
use lab::source::{Heard, Source, Up};
use lab::watch::Patience;
use lab::{Blame, Event, Isolation, Listener, Options, Outcome, Part, Plan, Repeats, Run, Runner, Summary};
use machine::{BootFailure, BootTrouble, Death, Error, Event as MachineEvent, Facts, Machine, Payload};
use protocol::{Counts, End, FromAgent, KernelRecord, Report, ReportKind, ToAgent, Work};

/// What a machine does when it is told to run a case, given the number of the run.
pub(crate) type Scenario = fn(u32) -> Vec<MachineEvent>;

/// What the n-th boot does; a machine that is up is the default.
pub(crate) enum Boot {
    Up,
    /// It comes up after this line on the console.
    Says(&'static str),
    Fails(BootTrouble),
    /// It prints this, comes up or not, and prints the rest when it is up.
    Prints(String, Result<String, BootTrouble>),
    /// The host cannot even start it.
    Impossible,
}

/// A session before it is played.
pub(crate) struct World {
    pub(crate) items: Vec<(Item, Scenario)>,
    pub(crate) boots: Vec<Boot>,
    pub(crate) patience: Patience,
    pub(crate) answers_pings: bool,
    /// The machines have no CPU of the host for this long after their start, and do nothing.
    pub(crate) starved: Duration,
    /// The user stops kiln when this case starts.
    pub(crate) interrupt_at: Option<&'static str>,
}

/// What happened.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) events: Vec<Event>,
    pub(crate) result: Result<Summary, Error>,
    pub(crate) seen: Seen,
}

/// What the machines of a session saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) boots: usize,
    pub(crate) powered_off: usize,
    pub(crate) examined: usize,
    pub(crate) told: Vec<ToAgent>,
}

struct FakeSource {
    boots: Mutex<VecDeque<Boot>>,
    scenarios: Vec<(String, Scenario)>,
    answers_pings: bool,
    starved: Duration,
    seen: Arc<Mutex<Seen>>,
}

struct FakeMachine {
    scenarios: Vec<(String, Scenario)>,
    answers_pings: bool,
    start: Instant,
    starved: Duration,
    queue: VecDeque<MachineEvent>,
    ended: Cell<bool>,
    seen: Arc<Mutex<Seen>>,
}

struct Recorder<'a> {
    events: Vec<Event>,
    interrupt_at: Option<&'static str>,
    interrupt: &'a AtomicBool,
}

impl Machine for FakeMachine {
    fn tell(&mut self, message: &ToAgent) {
        assert!(!self.ended.get(), "a machine that ended was told {message:?}");
        self.seen.lock().expect("no thread panicked").told.push(message.clone());
        match message {
            ToAgent::Run(request) => {
                let Work::Case(name) = &request.work else { panic!("only cases are planned") };
                let scenario = self.scenarios.iter().find(|(known, _)| known == name);
                self.queue.extend(scenario.expect("every case has a scenario").1(request.run));
            }
            ToAgent::Ping { nonce } if self.answers_pings => {
                self.queue.push_back(agent(FromAgent::Pong { nonce: *nonce }));
            }
            ToAgent::PowerOff => {
                self.seen.lock().expect("no thread panicked").powered_off += 1;
                self.queue.push_back(MachineEvent::Ended(Death::PoweredOff));
            }
            _ => {}
        }
    }

    fn next(&mut self, _deadline: Instant) -> MachineEvent {
        if self.start.elapsed() < self.starved {
            return MachineEvent::Quiet;
        }
        let event = self.queue.pop_front().unwrap_or(MachineEvent::Quiet);
        self.ended.set(matches!(event, MachineEvent::Ended(_)));
        event
    }

    fn examine(&mut self) -> Facts {
        self.seen.lock().expect("no thread panicked").examined += 1;
        Facts {
            state: vec!["RIP=0000000000000fff".to_string()],
            traces: vec!["Kernel panic - not syncing: NMI: Not continuing".to_string()],
        }
    }

    fn waited(&mut self) -> Duration {
        self.start.elapsed().min(self.starved)
    }

    fn stop(self: Box<Self>) {
        self.seen.lock().expect("no thread panicked").powered_off += 1;
    }
}

impl Source for FakeSource {
    fn boot(
        &self,
        _interrupt: &AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Up, BootFailure>, Error> {
        self.seen.lock().expect("no thread panicked").boots += 1;
        heard(Heard::CommandLine("fake"));
        heard(Heard::Console("Linux version 6.1.0"));
        let boot = self.boots.lock().expect("no thread panicked").pop_front().unwrap_or(Boot::Up);
        if let Boot::Says(line) = boot {
            heard(Heard::Console(line));
        }
        if let Boot::Prints(text, _) = &boot {
            text.lines().for_each(|line| heard(Heard::Console(line)));
        }
        let late = match &boot {
            Boot::Prints(_, Ok(late)) => {
                late.lines().map(|line| MachineEvent::Console(line.into())).collect()
            }
            _ => VecDeque::new(),
        };
        match boot {
            Boot::Impossible => Err(Error::NoQemu("fake".into())),
            Boot::Fails(trouble) | Boot::Prints(_, Err(trouble)) => Ok(Err(BootFailure {
                trouble,
                console: vec!["last words".into()],
                facts: Box::default(),
                dump: None,
            })),
            Boot::Up | Boot::Says(_) | Boot::Prints(_, Ok(_)) => {
                let machine = Box::new(FakeMachine {
                    scenarios: self.scenarios.clone(),
                    answers_pings: self.answers_pings,
                    start: Instant::now(),
                    starved: self.starved,
                    queue: late,
                    ended: Cell::new(false),
                    seen: Arc::clone(&self.seen),
                });
                Ok(Ok(Up { machine, release: "6.1.0".into(), took: Duration::from_millis(1) }))
            }
        }
    }
}

impl Listener for Recorder<'_> {
    fn hear(&mut self, event: &Event) {
        if let (Event::Started { case, .. }, Some(name)) = (event, self.interrupt_at)
            && case == name
        {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        self.events.push(event.clone());
    }
}

impl World {
    /// A world in which these cases do this.
    pub(crate) fn of(cases: &[(&str, Scenario)]) -> Self {
        Self {
            items: cases.iter().map(|(name, scenario)| (item(name), *scenario)).collect(),
            boots: Vec::new(),
            patience: Patience::fixed(1.0),
            answers_pings: true,
            starved: Duration::ZERO,
            interrupt_at: None,
        }
    }

    /// Silence of eight thousandths of a second is a hang.
    pub(crate) fn impatient(self) -> Self {
        Self { patience: Patience::fixed(0.001), ..self }
    }

    pub(crate) fn boots(self, boots: Vec<Boot>) -> Self {
        Self { boots, ..self }
    }

    /// Plays it.
    pub(crate) fn run(self) -> Story {
        let interrupt = AtomicBool::new(false);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let scenarios = self.items.iter().map(|(item, scenario)| (item.name.clone(), *scenario)).collect();
        let source = FakeSource {
            boots: Mutex::new(self.boots.into()),
            scenarios,
            answers_pings: self.answers_pings,
            starved: self.starved,
            seen: Arc::clone(&seen),
        };
        let mut recorder =
            Recorder { events: Vec::new(), interrupt_at: self.interrupt_at, interrupt: &interrupt };
        let plan = Plan {
            suite: "fake".into(),
            items: self.items.into_iter().map(|(item, _)| item).collect(),
            payload: Payload::default(),
            memory_mib: 1,
            cpus: 1,
            disk_mib: 0,
            notes: Vec::new(),
        };
        let options = Options {
            patience: self.patience,
            isolation: Isolation::Suite,
            jobs: 1,
            repeats: Repeats::OnFailure(0),
            seed: None,
            durations: HashMap::new(),
            finished: Vec::new(),
        };
        let runner = Runner::new(&mut recorder, &interrupt, options);
        let part = Part { plan: &plan, source: &source };
        let result = runner.run(session(plan.items.iter().map(|item| item.name.clone()).collect()), &[part]);
        let story = Story {
            events: recorder.events,
            result,
            seen: std::mem::take(&mut *seen.lock().expect("no thread panicked")),
        };
        story.check_order(&plan);
        story
    }
}

/// Plays the boot of a kernel with KUnit.
pub(crate) fn kunit(boot: Boot) -> Story {
    let interrupt = AtomicBool::new(matches!(boot, Boot::Prints(_, Err(BootTrouble::Interrupted))));
    let seen = Arc::new(Mutex::new(Seen::default()));
    let source = FakeSource {
        boots: Mutex::new(VecDeque::from([boot])),
        scenarios: Vec::new(),
        answers_pings: true,
        starved: Duration::ZERO,
        seen: Arc::clone(&seen),
    };
    let mut recorder = Recorder { events: Vec::new(), interrupt_at: None, interrupt: &interrupt };
    let result = lab::kunit::run(&source, &mut recorder, &interrupt, (session(Vec::new()), &[]));
    let story = Story {
        events: recorder.events,
        result,
        seen: std::mem::take(&mut *seen.lock().expect("no thread panicked")),
    };
    let Some(Event::Planned(session)) = story.events.first() else { panic!("{:?}", story.events) };
    story.check_events(&session.cases, story.not_run());
    story
}

impl Story {
    /// What the end says was not run; checked by those who know it.
    fn not_run(&self) -> u32 {
        match self.events.last() {
            Some(Event::Ended { summary, .. }) => summary.not_run,
            _ => 0,
        }
    }

    /// The Runs in the order in which they ended.
    pub(crate) fn runs(&self) -> Vec<&Run> {
        let mut runs = Vec::new();
        for event in &self.events {
            if let Event::Finished(run) = event {
                runs.push(&**run);
            }
        }
        runs
    }

    pub(crate) fn run(&self, case: &str) -> &Run {
        self.runs().into_iter().find(|run| run.case == case).expect("the case was run")
    }

    /// Case, Outcome, blame and boot of every Run.
    pub(crate) fn outcomes(&self) -> Vec<(&str, Outcome, Option<Blame>, u32)> {
        self.runs().iter().map(|run| (run.case.as_str(), run.outcome, run.blame, run.boot)).collect()
    }

    pub(crate) fn summary(&self) -> Summary {
        *self.result.as_ref().expect("the host could start machines")
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.summary().exit_code()
    }

    /// What must hold in every session of the Runner.
    fn check_order(&self, plan: &Plan) {
        let cases: Vec<String> = plan.items.iter().map(|item| item.name.clone()).collect();
        let done = self.runs().iter().filter(|run| run.case != "boot").count();
        self.check_events(&cases, u32::try_from(plan.items.len() - done).expect("few"));
    }

    /// What must hold in every session.
    fn check_events(&self, cases: &[String], not_run: u32) {
        assert!(matches!(self.events.first(), Some(Event::Planned(_))), "{:?}", self.events);
        let Some(Event::Ended { summary, .. }) = self.events.last() else {
            panic!("the last event is not the end: {:?}", self.events)
        };
        let ends = |event: &&Event| matches!(event, Event::Planned(_) | Event::Ended { .. });
        assert_eq!(self.events.iter().filter(ends).count(), 2);
        let mut counted = Summary::default();
        let mut started: Option<&str> = None;
        for event in &self.events {
            match event {
                Event::Started { case, .. } => started = Some(case),
                Event::Finished(run) => {
                    counted.count(run.outcome);
                    let was_started = started.take();
                    let expected = (run.boot > 0 && run.case != "boot").then_some(run.case.as_str());
                    assert_eq!(was_started, expected, "{run:?}");
                }
                _ => {}
            }
        }
        counted.not_run = not_run;
        assert_eq!(*summary, counted);
        let names = self.runs().into_iter().map(|run| &run.case).filter(|name| *name != "boot");
        let names: Vec<&String> = names.collect();
        let planned: Vec<&String> = cases.iter().take(names.len()).collect();
        assert_eq!(names, planned);
    }
}

fn session(cases: Vec<String>) -> Session {
    Session {
        started: jiff::Timestamp::UNIX_EPOCH,
        kiln: "0".into(),
        command: vec!["run".into(), "fake".into()],
        directory: "/home".into(),
        locator: "fake".into(),
        kernel: "fake".into(),
        provenance: "fake".into(),
        release: None,
        identity: "fake".into(),
        machine: "fake".into(),
        suite: "fake".into(),
        cases,
    }
}

pub(crate) fn item(name: &str) -> Item {
    Item {
        name: name.into(),
        about: format!("about {name}"),
        work: Work::Case(name.into()),
        dialect: Dialect::Kiln,
        limit: Duration::from_secs(1),
        expects: &[],
        modules: Vec::new(),
        unsure: Vec::new(),
        cpus: 1,
        skip: None,
    }
}

pub(crate) fn agent(message: FromAgent) -> MachineEvent {
    MachineEvent::Agent(message)
}

pub(crate) fn log(text: &str) -> MachineEvent {
    agent(FromAgent::Log(KernelRecord { sequence: 1, time_us: 1, level: 4, text: text.into() }))
}

pub(crate) fn console(text: &str) -> MachineEvent {
    MachineEvent::Console(format!("[    1.000000] {text}"))
}

pub(crate) fn report(run: u32, kind: ReportKind, text: &str) -> MachineEvent {
    agent(FromAgent::Report { run, report: Report { kind, text: text.into() } })
}

/// The end of a run, with these counts.
pub(crate) fn finished(run: u32, end: End, counts: Counts) -> MachineEvent {
    agent(FromAgent::Finished {
        run,
        end,
        counts,
        duration_us: 1000,
        taint_before: 0,
        taint_after: 0,
        leftovers: Vec::new(),
    })
}

/// The end of a run in which one check held.
pub(crate) fn passed(run: u32) -> MachineEvent {
    finished(run, End::Exited(0), Counts { pass: 1, ..Counts::default() })
}

/// A case that passes.
pub(crate) fn passes(run: u32) -> Vec<MachineEvent> {
    vec![passed(run)]
}
