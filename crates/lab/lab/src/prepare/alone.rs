//! A case of a Run that was kept, alone in its machine.

use std::time::Duration;

use judge::Run;
use kernel::Kernel;
use machine::Spec;

use super::{Again, Context, Error, Prepared};
use crate::bundle::{self, File, Parts};
use crate::event::Session;
use crate::options::settle_alone;
use crate::plan::Item;
use crate::request::Request;

/// A single case with its machine.
#[derive(Debug)]
pub struct Alone {
    /// The Run as it was.
    pub run: Run,
    /// What runs.
    pub item: Item,
    pub(crate) kernel: Kernel,
    pub(crate) spec: Spec,
    pub(crate) settle: Duration,
    session: Session,
    is_users: bool,
}

impl Alone {
    /// What the case of `run` needs to run, once the Kernel is known to be the same, and the session as it is now.
    ///
    /// # Errors
    ///
    /// When it cannot run alone, or not any more.
    pub fn new(
        request: &Request,
        again: &Again,
        run: &Run,
        context: &mut Context<'_>,
    ) -> Result<Self, Error> {
        let refused = |text: &str| Err(Error::Usage(text.to_string()));
        let request = match request {
            Request::Run(request) => request,
            Request::Kunit(_) => {
                return refused("the tests of kiln kunit run while the kernel boots: none can run alone");
            }
            Request::Experiment(_) => {
                return refused(
                    "the script of an experiment makes its machines: `kiln shell KERNEL` opens a shell",
                );
            }
        };
        let prepared = Prepared::again(request, again, context)?;
        let session = prepared.session()?;
        let item = prepared.plans.first().and_then(|plan| plan.items.first()).cloned();
        let Some((item, spec)) = item.zip(prepared.specs.into_iter().next()) else {
            return Err(Error::Usage(format!("{}: nothing was planned", run.case)));
        };
        let is_users = request.cases.program().is_some();
        let settle = settle_alone(request.policy.settle);
        Ok(Self { run: run.clone(), item, kernel: prepared.kernel, spec, settle, session, is_users })
    }

    /// The files of a bundle, with what was kept of the Run as `evidence`.
    ///
    /// # Errors
    ///
    /// When the Run was none of QEMU's or none at all, or something cannot be read.
    pub fn bundle(&self, evidence: Vec<File>) -> Result<Vec<File>, bundle::Error> {
        let Self { run, item, kernel, spec, settle, session, is_users } = self;
        let (settle, is_users) = (*settle, *is_users);
        bundle::files(Parts { run, session, kernel, spec, item, settle, is_users }, evidence)
    }
}
