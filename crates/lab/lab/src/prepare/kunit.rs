//! The tests that a kernel runs while it boots.

use std::sync::atomic::AtomicBool;

use judge::Summary;
use kernel::Kernel;
use machine::Spec;

use super::{About, Again, Context, Error};
use crate::backend::Backend;
use crate::decode::Decoding;
use crate::event::{Listener, Session};
use crate::kunit;
use crate::plan::Plan;
use crate::request::{KunitRequest, Request};
use crate::source::Source;

/// How much longer a boot with tests may take than one without.
const TESTS_FACTOR: u32 = 20;

/// A kernel with built-in tests, and its machine.
#[derive(Debug)]
pub struct PreparedKunit {
    /// What was asked.
    pub request: KunitRequest,
    /// The Kernel.
    pub kernel: Kernel,
    /// Its machine.
    pub spec: Spec,
}

impl PreparedKunit {
    /// Finds or builds the Kernel.
    ///
    /// # Errors
    ///
    /// When there is none, or the host cannot make its machine.
    pub fn new(request: &KunitRequest, context: &mut Context<'_>) -> Result<Self, Error> {
        let machine = &request.machine;
        let kernel = context.backend.kernel(&request.building(), &mut context.waiting)?;
        let engine = machine.engine(&kernel)?;
        let plan = Plan::nothing("kunit", machine.fixed(engine, None)?);
        let mut spec = machine.spec(&plan, engine);
        // A test that an oops ends would leave KUnit waiting for it.
        spec.append = ["oops=panic", &request.filter(), &spec.append].join(" ");
        // All tests run before the agent can say hello.
        spec.boot_limit = machine.boot_limit.unwrap_or(spec.boot_limit * TESTS_FACTOR);
        Ok(Self { request: request.clone(), kernel, spec })
    }

    /// The session that begins now.
    ///
    /// # Errors
    ///
    /// When a Run is repeated and the Kernel is another one.
    pub fn session(&self, again: Option<&Again>) -> Result<Session, Error> {
        let specs = std::slice::from_ref(&self.spec);
        let locator = &self.request.kernel;
        let about = About { locator, kernel: &self.kernel, specs, suite: "kunit" };
        let session = about.session(Request::Kunit(Box::new(self.request.clone())));
        match again {
            Some(again) => again.keep_to(session),
            None => Ok(session),
        }
    }

    /// Where its machine comes from.
    ///
    /// # Errors
    ///
    /// When the host or what the user asked for does not allow it.
    pub fn machines<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn Source + 'a>, Error> {
        Ok(backend.machines(&self.spec, &self.kernel, false)?)
    }

    /// Boots it and tells a listener what its tests gave; `watch` gets the lines of the console meanwhile.
    ///
    /// # Errors
    ///
    /// When the host cannot start a machine at all.
    pub fn run(
        &self,
        machines: &dyn Source,
        session: Session,
        (listener, interrupt): (&mut dyn Listener, &AtomicBool),
        watch: &mut dyn FnMut(&str),
    ) -> Result<Summary, Error> {
        let mut decoding = Decoding::of(&self.kernel, listener);
        Ok(kunit::run(machines, &mut decoding, interrupt, (session, &self.request.suites), watch)?)
    }
}
