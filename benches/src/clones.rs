//! Clones beside boots: one machine in this process, booted once and cloned often.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kernel::{Context as Search, Kernel, Locator, Store};
use lab::event::Session;
use lab::options::Boots;
use lab::plan::Fixed;
use lab::source::VmmSource;
use lab::{Event, Isolation, Listener, Options, Part, Plan, Repeats, Runner, Suite};
use machine::TimeoutScale;
use machine::{AccelChoice, Engine, Spec};

/// Clones of one boot; the first proves the template and is not counted.
const CLONES: u32 = 21;

/// Time that nothing here needs.
pub(crate) const LIMIT: Duration = Duration::from_secs(600);

/// How long a boot took, and each clone of it up to its result.
#[derive(Debug, Default)]
pub(crate) struct Times {
    boot: Duration,
    clones: Vec<Duration>,
}

impl Times {
    /// A clone against a boot.
    pub(crate) fn ratio(&self) -> f64 {
        let best = self.clones.iter().min().copied().unwrap_or(Duration::MAX);
        best.as_secs_f64() / self.boot.as_secs_f64()
    }
}

/// Boots the machine of the case `name` once and runs it in one clone after the other.
pub(crate) fn measure(locator: &str, name: &str) -> Result<Times> {
    let never = AtomicBool::new(false);
    let kernel = find(locator, &never)?;
    let suite = Suite::open("full", &[name.to_string()])?;
    let Suite::Own { name: suite, cases } = &suite else { anyhow::bail!("{name} is no case of kiln") };
    let plan = Plan::for_cases(suite, &kernel, cases, Fixed::default())?;
    let spec = spec(&plan, Engine::choose(kernel.arch, AccelChoice::Auto)?);
    // What an earlier run has kept would be no boot.
    let empty = tempfile::tempdir()?;
    let source = VmmSource::new(&spec, &kernel, Store::new(empty.path().to_path_buf()), false)?;
    let mut watch = Watch::default();
    let runner = Runner::new(&mut watch, &never, options(spec.engine));
    let summary = runner.run(session(&plan), &[Part { plan: &plan, source: &source }])?;
    ensure!(summary.pass == 1 && watch.times.clones.len() > 1, "the case did not pass: {summary:?}");
    Ok(watch.times)
}

/// The Kernel of `locator`.
pub(crate) fn find(locator: &str, never: &AtomicBool) -> Result<Kernel> {
    let locator: Locator = locator.parse().with_context(|| locator.to_string())?;
    let store = Store::new(Store::default_dir());
    let mut search = Search { store: &store, listener: &mut |_| {}, interrupt: never };
    Ok(kernel::resolve(&locator, &mut search)?)
}

/// The machine for `plan`, with time for whatever the host does meanwhile.
pub(crate) fn spec(plan: &Plan, engine: Engine) -> Spec {
    Spec {
        memory_mib: plan.memory_mib,
        cpus: plan.cpus,
        append: String::new(),
        engine,
        boot_limit: LIMIT,
        silence_limit: LIMIT,
        aging: Duration::ZERO,
        disk_mib: plan.disk_mib,
        hardware: Default::default(),
        connections: Default::default(),
        root: plan.root.clone(),
        dumps: None,
        timing: None,
        hazards: machine::Conditions::default(),
        payload: plan.payload.clone(),
    }
}

fn options(engine: Engine) -> Options {
    Options {
        timeouts: TimeoutScale::new(engine),
        isolation: Isolation::Case,
        jobs: 1,
        repeats: Repeats::Times(CLONES),
        boots: Boots { first: 0, count: Some(1) },
        seed: None,
        settle: None,
        durations: std::collections::HashMap::new(),
        finished: Vec::new(),
        tracing: None,
    }
}

fn session(plan: &Plan) -> Session {
    Session {
        started: jiff::Timestamp::now(),
        kiln: String::new(),
        request: None,
        command: Vec::new(),
        directory: std::path::PathBuf::new(),
        locator: String::new(),
        kernel: String::new(),
        kernels: Vec::new(),
        provenance: String::new(),
        commit: None,
        release: None,
        identity: String::new(),
        engine: None,
        machine: String::new(),
        suite: plan.suite.clone(),
        content: String::new(),
        cases: plan.items.iter().map(|item| item.name.clone()).collect(),
        expected: [].into(),
        jobs: 0,
        origin: None,
    }
}

/// Looks at the clock when something has happened.
#[derive(Default)]
struct Watch {
    times: Times,
    result: Option<Instant>,
}

impl Listener for Watch {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Booted { took, .. } => self.times.boot = *took,
            // The next clone is started as soon as the one before has told its result.
            Event::Repeated(_) => {
                let now = Instant::now();
                if let Some(before) = self.result.replace(now) {
                    self.times.clones.push(now - before);
                }
            }
            _ => {}
        }
    }
}
