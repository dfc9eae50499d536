//! A Run that was kept, once more: the same case on the very same Kernel.

use std::path::PathBuf;

use judge::Run;
use kernel::Locator;
use machine::Engine;
use script::KernelInfo;

use super::Error;
use crate::event::Session;
use crate::plan::Plan;
use crate::request::{MachineRequest, Request, Selection};

/// Digits of an identity that tell it from others.
const SHOWN: usize = 12;

/// What is kept to when a Run is repeated.
#[derive(Debug, Clone)]
pub struct Again {
    case: String,
    is_boot: bool,
    seed: u64,
    name: String,
    session: Session,
    request: Request,
    /// The program or the experiment as it was then, in place of one that has changed.
    copy: Option<PathBuf>,
}

impl Again {
    /// Repeats a Run of a session, which has a name and made it by this request.
    #[must_use]
    pub fn new(run: &Run, name: String, session: Session, request: Request) -> Self {
        let Run { case, is_boot, seed, .. } = run.clone();
        Self { case, is_boot, seed, name, session, request, copy: None }
    }

    /// The same with this program, or this folder of an experiment, in place of the user's, which has changed since.
    #[must_use]
    pub fn with_copy(self, path: PathBuf) -> Self {
        Self { copy: Some(path), ..self }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What asks for the same once more: the exact Kernel and the case are in place.
    ///
    /// # Errors
    ///
    /// When the session does not name its Kernel.
    pub fn request(&self) -> Result<Request, Error> {
        let exact = || self.session.kernel.parse::<Locator>();
        Ok(match self.request.clone() {
            Request::Run(request) => {
                let mut request = request.again(exact()?, (!self.is_boot).then_some(&self.case));
                self.keep_accel(&mut request.machine);
                if let (Selection::Program(program), Some(path)) = (&mut request.cases, &self.copy) {
                    program.path.clone_from(path);
                }
                Request::Run(Box::new(request))
            }
            Request::Kunit(request) => {
                let mut request = request.again(exact()?);
                self.keep_accel(&mut request.machine);
                Request::Kunit(Box::new(request))
            }
            Request::Experiment(request) => {
                let exact: Result<Vec<Locator>, _> =
                    self.session.kernels.iter().map(|kernel| kernel.locator.parse()).collect();
                let mut request = request.again(exact?);
                self.keep_accel(&mut request.machine);
                if let Some(path) = &self.copy {
                    request.folder.clone_from(path);
                }
                Request::Experiment(Box::new(request))
            }
        })
    }

    /// What `auto` meant then it shall mean now.
    fn keep_accel(&self, machine: &mut MachineRequest) {
        if let Some(Engine::Qemu(accel)) = self.session.engine {
            machine.accel = accel.into();
        }
    }

    /// Leaves in `plan` the case alone; for a boot, the first that needs one.
    pub(super) fn narrow(&self, plan: &mut Plan) -> Result<(), Error> {
        let named = plan.items.iter().find(|item| item.name == self.case);
        let first = || plan.items.iter().find(|item| self.is_boot && item.skip.is_none());
        let Some(item) = named.or_else(first).cloned() else {
            return Err(Error::Usage(format!("{}: this case no longer exists", self.case)));
        };
        plan.items = vec![item];
        Ok(())
    }

    /// The session that begins now, if it is about the same kernel; it can itself be repeated.
    pub(crate) fn keep_to(&self, now: Session) -> Result<Session, Error> {
        let identity = |session: &Session| (session.kernel.clone(), session.identity.clone());
        self.check(("its identity with parameters", "kiln run"), &identity(&self.session), &identity(&now))?;
        Ok(self.kept(now))
    }

    /// The same of an experiment: its identity depends on the accelerator, which `auto` chose then.
    pub(crate) fn keep_experiment_to(&self, now: Session) -> Result<Session, Error> {
        let identity = |kernel: &KernelInfo| (kernel.locator.clone(), kernel.identity.clone());
        for (before, kernel) in self.session.kernels.iter().zip(&now.kernels) {
            self.check(("its identity", "kiln exp run"), &identity(before), &identity(kernel))?;
        }
        if now.content != self.session.content {
            let text =
                format!("the experiment is no longer that of session {}: its files have changed", self.name);
            return Err(Error::Usage(text));
        }
        Ok(self.kept(now))
    }

    /// Refuses a kernel, by its locator and its identity, that is not the one of the session.
    fn check(
        &self,
        (what, call): (&str, &str),
        before: &(String, String),
        (locator, now): &(String, String),
    ) -> Result<(), Error> {
        if *now == before.1 {
            return Ok(());
        }
        let short = |identity: &str| identity.chars().take(SHOWN).collect::<String>();
        Err(Error::Usage(format!(
            "{locator} is no longer the kernel of session {}: {what} is {}, it was {}; `{call}` runs it as it is",
            self.name,
            short(now),
            short(&before.1)
        )))
    }

    fn kept(&self, now: Session) -> Session {
        let (request, command) = (Some(self.request.clone()), self.request.words());
        Session { request, command, ..now }
    }

    /// What the case drew its random numbers from.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// What is not as it was, a line each.
    pub(super) fn notes(&self, now: &Session) -> Vec<String> {
        let Self { session: before, name, .. } = self;
        let machine = (now.machine != before.machine)
            .then(|| format!("session {name} had another machine: {}", before.machine));
        let is_other = !before.content.is_empty() && now.content != before.content;
        let content = is_other.then(|| match self.request.machine().shows_host_files() {
            true => {
                format!("the root is made of this host's files, which may have changed since session {name}")
            }
            false => format!("session {name} ran another program, suite, root or agent"),
        });
        machine.into_iter().chain(self.copy_note()).chain(content).collect()
    }

    /// That the program or the experiment is not the one that has the user's name for it now.
    #[must_use]
    pub fn copy_note(&self) -> Option<String> {
        let path = self.copy.as_ref()?;
        let what = if matches!(self.request, Request::Experiment(_)) { "experiment" } else { "program" };
        Some(format!(
            "the {what} has changed since session {}: {} is what ran then",
            self.name,
            path.display()
        ))
    }
}
