//! A machine that plays a scenario, and where it comes from.
//!
//! A [`World`] says what each case, each boot and each clone does; [`World::run`] plays it through the real
//! Runner and gives the [`Story`], whose order of events has been checked.
//!
//! * [`machine`]: the machine
//! * [`source`]: boots, templates and clones
//! * [`story`]: what happened
//! * [`words`]: what machines say

mod machine;
mod source;
mod story;
mod words;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::machine::{BootTrouble, Payload, TimeoutScale};
use kernel::Locator;
use lab::event::Session;
use lab::options::Boots;
use lab::plan::Item;
use lab::request::{KernelRequest, KunitRequest, MachineRequest, Version};
use lab::runner::Golden;
use lab::{Event, Isolation, Options, Part, Plan, Repeats, Request, Runner};

use machine::{Diary, Manner};
use source::FakeSource;
use story::Recorder;

pub(crate) use machine::Scenario;
pub(crate) use source::{Boot, Cloned};
pub(crate) use story::Story;
pub(crate) use words::{agent, console, failed, fails, finished, item, log, passed, passes, report};

/// A session before it is played.
pub(crate) struct World {
    pub(crate) items: Vec<(Item, Scenario)>,
    pub(crate) boots: Vec<Boot>,
    pub(crate) clones: Vec<Cloned>,
    pub(crate) options: Options,
    pub(crate) answers_pings: bool,
    /// A machine does nothing until so many are at work at once.
    pub(crate) gather: usize,
    /// The machines have no CPU of the host.
    pub(crate) starved: bool,
    /// The user stops kiln when this case starts.
    pub(crate) interrupt_at: Option<&'static str>,
    /// What the same cases do on a kernel that is known to be good.
    pub(crate) golden: Option<Box<World>>,
}

impl World {
    /// A world in which these cases do this, in one machine.
    pub(crate) fn of(cases: &[(&str, Scenario)]) -> Self {
        Self {
            items: cases.iter().map(|(name, scenario)| (item(name), *scenario)).collect(),
            boots: Vec::new(),
            clones: Vec::new(),
            options: Options {
                timeouts: TimeoutScale::fixed(1.0),
                isolation: Isolation::Suite,
                jobs: 1,
                repeats: Repeats::OnFailure(0),
                boots: Boots::default(),
                seed: None,
                settle: None,
                durations: HashMap::new(),
                finished: Vec::new(),
                tracing: None,
            },
            answers_pings: true,
            gather: 0,
            starved: false,
            interrupt_at: None,
            golden: None,
        }
    }

    /// A world in which these cases do this, each in a clone, so many at a time.
    pub(crate) fn apart(jobs: usize, cases: &[(&str, Scenario)]) -> Self {
        let world = Self::of(cases);
        Self { options: Options { isolation: Isolation::Case, jobs, ..world.options }, ..world }
    }

    /// Silence of eight thousandths of a second is a hang.
    pub(crate) fn impatient(mut self) -> Self {
        self.options.timeouts = TimeoutScale::fixed(0.01);
        self
    }

    pub(crate) fn repeats(mut self, repeats: Repeats) -> Self {
        self.options.repeats = repeats;
        self
    }

    pub(crate) fn boots(self, boots: Vec<Boot>) -> Self {
        Self { boots, ..self }
    }

    pub(crate) fn clones(self, clones: Vec<Cloned>) -> Self {
        Self { clones, ..self }
    }

    pub(crate) fn golden(self, golden: Self) -> Self {
        Self { golden: Some(Box::new(golden)), ..self }
    }

    /// Its machines, and its cases.
    fn open(self, diary: &Arc<Diary>) -> (FakeSource, Plan) {
        let scenarios = self.items.iter().map(|(item, scenario)| (item.name.clone(), *scenario)).collect();
        let Self { answers_pings, gather, starved, .. } = self;
        let manner = Manner { scenarios, answers_pings, gather, starved };
        let source = FakeSource::new(manner, self.boots, self.clones, diary);
        let plan = Plan {
            suite: "fake".into(),
            items: self.items.into_iter().map(|(item, _)| item).collect(),
            payload: Payload::default(),
            memory_mib: 1,
            cpus: 1,
            disk_mib: 0,
            root: None,
            has_root: false,
            notes: Vec::new(),
        };
        (source, plan)
    }

    /// Plays it.
    pub(crate) fn run(mut self) -> Story {
        let interrupt = AtomicBool::new(false);
        let (diary, golden_diary) = (Arc::new(Diary::default()), Arc::new(Diary::default()));
        let golden = self.golden.take().map(|golden| golden.open(&golden_diary));
        let golden = golden
            .as_ref()
            .map(|(source, plan)| Golden { name: "golden".into(), parts: vec![Part { plan, source }] });
        let mut recorder =
            Recorder { events: Vec::new(), interrupt_at: self.interrupt_at, interrupt: &interrupt };
        let options = self.options.clone();
        let (isolation, finished) = (options.isolation, options.finished.clone());
        let (source, plan) = self.open(&diary);
        let cases: Vec<String> = plan.items.iter().map(|item| item.name.clone()).collect();
        let runner = Runner::new(&mut recorder, &interrupt, options).with_golden(golden);
        let result = runner.run(session(cases.clone()), &[Part { plan: &plan, source: &source }]);
        let seen = diary.seen().clone();
        let story = Story { events: recorder.events, result, seen };
        let earlier: Vec<String> = finished.into_iter().map(|run| run.case).collect();
        story.check(&cases, isolation, &earlier);
        assert_eq!(golden_diary.seen().alive, 0, "golden machines outlive the session");
        story
    }
}

/// Plays the boot of a kernel with KUnit.
pub(crate) fn kunit(boot: Boot) -> Story {
    kunit_with(boot, &[])
}

/// The same where the user asked for these kernel parameters.
pub(crate) fn kunit_with(boot: Boot, append: &[&str]) -> Story {
    let interrupt = AtomicBool::new(matches!(boot, Boot::Prints(_, Err(BootTrouble::Interrupted))));
    let diary = Arc::new(Diary::default());
    let (source, _) = World::of(&[]).boots(vec![boot]).open(&diary);
    let mut recorder = Recorder { events: Vec::new(), interrupt_at: None, interrupt: &interrupt };
    let append = append.iter().map(ToString::to_string).collect();
    let request = KunitRequest {
        version: Version,
        kernel: KernelRequest::named(Locator::Host),
        suites: Vec::new(),
        machine: MachineRequest { append, ..MachineRequest::default() },
    };
    let asked = Session { request: Some(Request::Kunit(Box::new(request))), ..session(Vec::new()) };
    let result = lab::kunit::run(&source, &mut recorder, &interrupt, (asked, &[]), &mut |_| ());
    let seen = diary.seen().clone();
    let story = Story { events: recorder.events, result, seen };
    let Some(Event::Planned(session)) = story.events.first() else { panic!("{:?}", story.events) };
    story.check_kunit(&session.cases);
    story
}

fn session(cases: Vec<String>) -> Session {
    Session {
        started: jiff::Timestamp::UNIX_EPOCH,
        kiln: "0".into(),
        request: None,
        command: vec!["run".into(), "fake".into()],
        directory: "/home".into(),
        locator: "fake".into(),
        kernel: "fake".into(),
        kernels: Vec::new(),
        provenance: "fake".into(),
        commit: None,
        release: None,
        identity: "fake".into(),
        engine: None,
        machine: "fake".into(),
        suite: "fake".into(),
        content: String::new(),
        cases,
        expected: [].into(),
        jobs: 2,
        origin: None,
    }
}
