//! A Run that was kept, once more: the same case on the very same Kernel.

use std::path::PathBuf;

use judge::Run;
use kernel::Locator;
use machine::Engine;

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
    /// The program as it was then, in place of one that has changed.
    program: Option<PathBuf>,
}

impl Again {
    /// Repeats a Run of a session, which has a name and made it by this request.
    #[must_use]
    pub fn new(run: &Run, name: String, session: Session, request: Request) -> Self {
        let Run { case, is_boot, seed, .. } = run.clone();
        Self { case, is_boot, seed, name, session, request, program: None }
    }

    /// The same with this program in place of the user's, which has changed since.
    #[must_use]
    pub fn with_program(self, path: PathBuf) -> Self {
        Self { program: Some(path), ..self }
    }

    /// What asks for the same once more: the exact Kernel and the case are in place.
    ///
    /// # Errors
    ///
    /// When the session does not name its Kernel.
    pub fn request(&self) -> Result<Request, Error> {
        let exact: Locator = self.session.kernel.parse()?;
        Ok(match self.request.clone() {
            Request::Run(request) => {
                let mut request = request.again(exact, (!self.is_boot).then_some(&self.case));
                self.keep_accel(&mut request.machine);
                if let (Selection::Program(program), Some(path)) = (&mut request.cases, &self.program) {
                    program.path.clone_from(path);
                }
                Request::Run(Box::new(request))
            }
            Request::Kunit(request) => {
                let mut request = request.again(exact);
                self.keep_accel(&mut request.machine);
                Request::Kunit(Box::new(request))
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
        let before = &self.session;
        if now.identity != before.identity {
            let short = |identity: &str| identity.chars().take(SHOWN).collect::<String>();
            return Err(Error::Usage(format!(
                "{} is no longer the kernel of session {}: its identity with parameters is {}, it was {}; \
                 `kiln run` runs it as it is",
                now.kernel,
                self.name,
                short(&now.identity),
                short(&before.identity)
            )));
        }
        let (request, command) = (Some(self.request.clone()), self.request.words());
        Ok(Session { request, command, directory: before.directory.clone(), ..now })
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
        machine.into_iter().chain(self.program_note()).chain(content).collect()
    }

    /// That the program is not the one that has the user's name for it now.
    #[must_use]
    pub fn program_note(&self) -> Option<String> {
        let path = self.program.as_ref()?;
        Some(format!(
            "the program has changed since session {}: {} is what ran then",
            self.name,
            path.display()
        ))
    }
}
