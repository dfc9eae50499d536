//! From a request to what a session is made of: a Kernel, cases, and machines for them.
//!
//! * [`cases`]: from a selection to a suite
//! * [`again`]: a Run that was kept, once more; [`alone`]: its case with its machine
//! * [`content`]: what runs, besides the Kernel
//! * [`dry`]: what would be done
//! * [`measure`](mod@measure): Kernels that are measured; [`exact`]: Kernels that are recorded in the same way
//! * [`user_space`]: the root of a machine
//! * [`kunit`]: the tests that a kernel runs while it boots

pub mod again;
pub mod alone;
pub mod cases;
pub mod content;
pub mod dry;
mod error;
pub mod exact;
pub mod kunit;
pub mod measure;
pub(crate) mod user_space;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use judge::Summary;
use kernel::Kernel;
use machine::{Accel, AccelChoice, Engine, Spec, kvm};
use protocol::trace::TraceRequest;

use crate::backend::{Backend, Waiting};
use crate::decode::Decoding;
use crate::event::{Listener, Session};
use crate::options::{Options, Tracing};
use crate::plan::{Plan, directory};
use crate::request::machine::describe;
use crate::request::{KernelRequest, Request, RunRequest, policy};
use crate::runner::{Golden, Part, Runner};
use crate::source::Source;
use crate::suites::{Suite, kselftest};

pub use again::Again;
pub use alone::Alone;
use cases::Chosen;
pub use error::Error;

/// Of a kernel without its configuration nobody can say before the boot what it was built without.
const NO_CONFIGURATION: &str = "this kernel's configuration is unknown, so a missing option may show as a failure: \
                                name its tree, or put config-RELEASE beside vmlinuz-RELEASE";

/// Why there are no dumps although they were asked for.
const NO_DUMP: &str = "--dump needs QEMU: there are no memory dumps of User-Mode Linux";

/// Why there is no trace although one was asked for.
const NO_TRACE: &str = "recording needs QEMU: User-Mode Linux has no memory that this host can see";

/// kiln's own cases need nothing but the agent.
const ROOT_OF_OWN_CASES: &str =
    "--root has no effect on kiln's own cases: use it with --exec, --kselftest or a --suite of programs";

/// What carries requests out, and who waits for it.
pub struct Context<'a> {
    /// Where Kernels and machines come from.
    pub backend: &'a dyn Backend,
    /// Who waits.
    pub waiting: Waiting<'a>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

/// What a run is made of.
#[derive(Debug)]
pub struct Prepared {
    /// What was asked.
    pub request: RunRequest,
    /// The Kernel.
    pub kernel: Kernel,
    /// What runs the machines.
    pub engine: Engine,
    /// The cases, in one plan for each shape of machine.
    pub plans: Vec<Plan>,
    /// The machines for these plans.
    pub specs: Vec<Spec>,
    /// A hash over what runs, besides the Kernel.
    content: String,
    again: Option<Again>,
}

/// Machines for each plan of a run.
pub struct Machines<'a>(Vec<Box<dyn Source + 'a>>);

impl std::fmt::Debug for Machines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Machines").field(&self.0.len()).finish()
    }
}

/// What else it takes to run the cases.
#[derive(Debug)]
pub struct Execution<'a> {
    /// Of the run.
    pub machines: &'a Machines<'a>,
    /// How the cases are run.
    pub options: Options,
    /// The good kernel.
    pub golden: Option<Golden<'a>>,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
}

impl Prepared {
    /// Finds the Kernel and plans what runs on it, and in which machines.
    ///
    /// # Errors
    ///
    /// When a name is wrong, or the host does not allow it.
    pub fn new(request: &RunRequest, context: &mut Context<'_>) -> Result<Self, Error> {
        Self::with(request, None, context)
    }

    /// The same for a Run that is repeated.
    ///
    /// # Errors
    ///
    /// As for [`Prepared::new`], and when there is no such case any more.
    pub fn again(request: &RunRequest, again: &Again, context: &mut Context<'_>) -> Result<Self, Error> {
        Self::with(request, Some(again.clone()), context)
    }

    fn with(request: &RunRequest, again: Option<Again>, context: &mut Context<'_>) -> Result<Self, Error> {
        // A wrong name is reported before anything is fetched.
        let chosen = request.cases.check()?;
        let kernel = context.backend.kernel(&request.kernel, &mut context.waiting)?;
        let suite = chosen.map(|chosen| suite(request, chosen, &kernel, &mut context.waiting)).transpose()?;
        let engine = request.machine.engine(&kernel)?;
        let fixed = request.machine.fixed(engine, request.case_limit)?;
        if request.machine.root.is_some() && matches!(suite, Some(Suite::Own { .. })) {
            return Err(Error::Usage(ROOT_OF_OWN_CASES.to_string()));
        }
        let root = user_space::find(&request.machine, context)?;
        let mut plan = match (request.cases.program(), &suite) {
            (Some(program), _) => Plan::for_program(&kernel, program.borrowed(), fixed)?,
            (None, Some(Suite::Own { name, cases })) => Plan::for_cases(name, &kernel, cases, fixed)?,
            (None, Some(Suite::External(suite))) => Plan::for_external(suite, &kernel, fixed)?,
            (None, None) => return Err(Error::Usage("there is nothing to run".to_string())),
        };
        plan = plan.require(&kernel, &request.needs, fixed)?;
        plan.give_devices(&kernel, engine, &request.machine.hardware)?;
        if let Some(root) = &root {
            plan.give_root(&kernel, engine, root)?;
            if request.cases.program().is_some() {
                plan.begin_in(&directory(root));
            }
        }
        if let Some(again) = &again {
            again.narrow(&mut plan)?;
        }
        let content = content::hash(request, suite.as_ref(), &plan)?;
        let plans = plan.by_shape(fixed);
        let specs = plans.iter().map(|plan| request.machine.spec(plan, engine)).collect();
        Ok(Self { request: request.clone(), kernel, engine, plans, specs, content, again })
    }

    /// The same on the good kernel that failing cases are compared with, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`Prepared::new`].
    pub fn golden(&self, context: &mut Context<'_>) -> Result<Option<Self>, Error> {
        let Some(locator) = &self.request.policy.golden else { return Ok(None) };
        let kernel = KernelRequest::of(locator.clone(), &self.request.kernel.build);
        Self::new(&RunRequest { kernel, ..self.request.clone() }, context).map(Some)
    }

    /// The session that begins now. Where a Run is repeated, it has the request of that one, so that it can itself be
    /// repeated.
    ///
    /// # Errors
    ///
    /// When a Run is repeated and the Kernel is another one.
    pub fn session(&self) -> Result<Session, Error> {
        let suite = self.plans.first().map(|plan| plan.suite.as_str()).unwrap_or_default();
        let request = Request::Run(Box::new(self.request.clone()));
        let subject =
            About { locator: &self.request.kernel, kernel: &self.kernel, specs: &self.specs, suite };
        let (cases, content) = (self.cases(), self.content.clone());
        let session = Session { cases, content, ..subject.session(request) };
        match &self.again {
            Some(again) => again.keep_to(session),
            None => Ok(session),
        }
    }

    /// Names of all cases.
    #[must_use]
    pub fn cases(&self) -> Vec<String> {
        self.plans.iter().flat_map(|plan| &plan.items).map(|item| item.name.clone()).collect()
    }

    /// How the cases are run: a repeated Run draws the same random numbers.
    #[must_use]
    pub fn options(&self) -> policy::Chosen {
        let mut chosen = self.request.policy.options(self.engine, &self.specs);
        chosen.options.seed = self.again.as_ref().map(Again::seed).or(chosen.options.seed);
        chosen
    }

    /// Where the machines come from.
    ///
    /// # Errors
    ///
    /// When the host or what the user asked for does not allow it.
    pub fn machines<'a>(&'a self, backend: &'a dyn Backend) -> Result<Machines<'a>, Error> {
        let same = self.request.policy.seed.is_some();
        let machines = self.specs.iter().map(|spec| backend.machines(spec, &self.kernel, same));
        Ok(Machines(machines.collect::<Result<_, _>>()?))
    }

    /// Runs the cases and tells a listener.
    ///
    /// # Errors
    ///
    /// When the host cannot start a machine at all.
    pub fn run(
        &self,
        session: Session,
        execution: Execution<'_>,
        listener: &mut dyn Listener,
    ) -> Result<Summary, machine::Error> {
        let Execution { machines, options, golden, interrupt } = execution;
        let mut decoding = Decoding::of(&self.kernel, listener);
        let runner = Runner::new(&mut decoding, interrupt, options).with_golden(golden);
        runner.run(session, &self.parts(machines))
    }

    /// This is the good kernel that failing cases run on too.
    #[must_use]
    pub fn as_golden<'a>(&'a self, machines: &'a Machines<'a>) -> Golden<'a> {
        Golden { name: self.kernel.locator.clone(), parts: self.parts(machines) }
    }

    /// The plans with their machines.
    #[must_use]
    pub fn parts<'a>(&'a self, machines: &'a Machines<'a>) -> Vec<Part<'a>> {
        let sources = machines.0.iter().map(|source| &**source);
        self.plans.iter().zip(sources).map(|(plan, source)| Part { plan, source }).collect()
    }

    /// Memory dumps of kernels that crash or hang go into this folder, if they are asked for; a note where there are
    /// none.
    pub fn dump_into(&mut self, folder: &Path) -> Option<String> {
        if !self.request.dump {
            return None;
        }
        if self.engine == Engine::Uml {
            return Some(NO_DUMP.to_string());
        }
        self.specs.iter_mut().for_each(|spec| spec.dumps = Some(folder.to_path_buf()));
        None
    }

    /// What is recorded, if something is; the traces go into this folder.
    ///
    /// # Errors
    ///
    /// Why nothing can be recorded.
    pub fn tracing(&self, folder: &Path) -> Result<Option<Tracing>, String> {
        match &self.request.trace {
            None => Ok(None),
            Some(_) if self.engine == Engine::Uml => Err(NO_TRACE.to_owned()),
            Some(request) => {
                let request = TraceRequest { align_clocks: true, ..request.clone() };
                let folder = folder.to_owned();
                Ok(Some(Tracing { request, folder, flight: self.request.flight }))
            }
        }
    }

    /// What is worth knowing before anything happens.
    #[must_use]
    pub fn notes(&self, session: &Session) -> Vec<String> {
        let again = self.again.iter().flat_map(|again| again.notes(session));
        let is_unknown = self.kernel.config.is_none() && self.request.has_needs();
        let unknown = is_unknown.then(|| NO_CONFIGURATION.to_string());
        let plans = self.plans.first().into_iter().flat_map(|plan| plan.notes.clone());
        let root = self.plans.first().and_then(|plan| plan.root.as_ref());
        let root = root.map(|root| format!("root {}: {}", root.locator, root.provenance));
        self.note_accel().into_iter().chain(again).chain(unknown).chain(root).chain(plans).collect()
    }

    /// Why KVM is not used, where one might expect it.
    fn note_accel(&self) -> Option<String> {
        let machine = &self.request.machine;
        let is_expected = machine.accel == AccelChoice::Auto
            && machine.hazards.is_empty()
            && self.engine == Engine::Qemu(Accel::Tcg)
            && Path::new("/dev/kvm").exists();
        let is_useless = is_expected && kvm::verdict().is_err();
        (is_useless && kvm::is_news())
            .then(|| "KVM does not work here, so QEMU emulates; `kiln doctor` says why".to_string())
    }
}

/// The suite; selftests are built for it, those of a group from the kernel's own source.
fn suite(
    request: &RunRequest,
    chosen: Chosen,
    kernel: &Kernel,
    waiting: &mut Waiting<'_>,
) -> Result<Suite, Error> {
    let source = match &chosen {
        Chosen::Group(_) => request.kernel.source(waiting)?,
        Chosen::Suite(_) | Chosen::Selftests(_) => None,
    };
    let root = source.as_ref().map(|source| source.path.clone()).or_else(|| kselftest::tree_of(kernel));
    Ok(request.cases.suite(chosen, root, waiting)?)
}

/// What a session is about.
pub(crate) struct About<'a> {
    pub(crate) locator: &'a KernelRequest,
    pub(crate) kernel: &'a Kernel,
    pub(crate) specs: &'a [Spec],
    pub(crate) suite: &'a str,
}

impl About<'_> {
    /// The session that begins now.
    pub(crate) fn session(&self, request: Request) -> Session {
        let Self { locator, kernel, specs, suite } = *self;
        Session {
            started: jiff::Timestamp::now(),
            kiln: env!("CARGO_PKG_VERSION").to_string(),
            command: request.words(),
            request: Some(request),
            directory: std::env::current_dir().unwrap_or_default(),
            locator: locator.locator.to_string(),
            kernel: kernel.exact_locator(),
            kernels: Vec::new(),
            provenance: kernel.provenance.clone(),
            commit: kernel.commit.clone(),
            release: kernel.release.clone(),
            identity: kernel.identity(&specs.first().map(Spec::parameters).unwrap_or_default()),
            engine: specs.first().map(|spec| spec.engine),
            machine: describe(specs),
            suite: suite.to_string(),
            content: String::new(),
            cases: Vec::new(),
            expected: BTreeMap::new(),
            jobs: 0,
            origin: None,
        }
    }
}
