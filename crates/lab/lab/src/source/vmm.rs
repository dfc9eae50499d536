//! Machines that are programs of this host: QEMU or UML.

use std::sync::atomic::AtomicBool;

use kernel::{Kernel, Store};
use machine::{BootFailure, BootTrouble, Booted, Built, Error, Programs, Spec};

use super::proven::{Proof, Proven};
use super::{BootEvent, Facts, Source, Template, Up};

/// Boots a Kernel in a machine that is a program of this host: QEMU or UML.
#[derive(Debug)]
pub struct VmmSource<'a> {
    built: Built<'a>,
    /// There is something besides the agent.
    ships: bool,
    /// Where templates are kept.
    store: Store,
    /// Clones go on with the random numbers of their template.
    same_random_numbers: bool,
}

impl<'a> VmmSource<'a> {
    /// Prepares everything that does not change from boot to boot; templates are kept in `store`. Clones have
    /// random numbers of their own, or, with `same_random_numbers`, those of their template.
    ///
    /// # Errors
    ///
    /// When the host or what the user asked for does not allow it.
    pub fn new(
        spec: &'a Spec,
        kernel: &'a Kernel,
        store: Store,
        same_random_numbers: bool,
    ) -> Result<Self, Error> {
        let ships = !spec.payload.is_empty();
        Ok(Self { built: Built::new(spec, kernel)?, ships, store, same_random_numbers })
    }
}

impl Source for VmmSource<'_> {
    fn boot(
        &self,
        interrupt: &AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Up, BootFailure>, Error> {
        Ok(self.boot_one(interrupt, on_event)?.map(Up::from))
    }

    fn template<'s>(
        &'s self,
        number: u32,
        interrupt: &'s AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Box<dyn Template<'s> + 's>, BootFailure>, Error> {
        let template = self.proven(number, interrupt, on_event)?;
        Ok(template.map(|template| Box::new(template) as Box<dyn Template<'_>>))
    }
}

impl VmmSource<'_> {
    /// A machine with all that it shall have: a clone where there can be one, else one that boots. `on_event` also gets
    /// what the console of a boot said that an earlier run has kept.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A kernel that does not boot is the inner error.
    pub fn machine(
        &self,
        interrupt: &AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Booted, BootFailure>, Error> {
        match self.proven(0, interrupt, on_event)? {
            Ok(template) => {
                let Facts { console, kept, .. } = template.facts();
                let earlier = console.iter().filter(|_| kept);
                earlier.for_each(|line| on_event(BootEvent::Console(line)));
                template.booted(None, interrupt)
            }
            Err(BootFailure { trouble: BootTrouble::Unclonable(_), .. }) => {
                self.boot_one(interrupt, on_event)
            }
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// A machine that boots, whether it could be a clone or not.
    ///
    /// # Errors
    ///
    /// As for [`VmmSource::machine`].
    pub fn boot_one(
        &self,
        interrupt: &AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Booted, BootFailure>, Error> {
        let started = self.built.start()?;
        on_event(BootEvent::CommandLine(started.command_line()));
        Ok(started.wait_for_hello(interrupt, &mut |line| on_event(BootEvent::Console(line))))
    }

    /// A template into whose clones programs come, or that holds them.
    fn proven<'s>(
        &'s self,
        number: u32,
        interrupt: &'s AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Proven<'s>, BootFailure>, Error> {
        if let Err(failure) = self.built.can_be_cloned() {
            return Ok(Err(failure));
        }
        let programs = self.built.programs();
        let template = self.template_with((programs, number), interrupt, on_event)?;
        let lacks_window =
            |template: &Proven<'_>| self.ships && programs == Programs::Later && !template.has_window();
        if !template.as_ref().is_ok_and(lacks_window) {
            return Ok(template);
        }
        drop(template);
        self.template_with((Programs::Inside, number), interrupt, on_event)
    }

    /// A template whose programs come in this way: one that is kept, or one that boots.
    fn template_with<'s>(
        &'s self,
        (programs, number): (Programs, u32),
        interrupt: &'s AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Proven<'s>, BootFailure>, Error> {
        let entry = self.built.template_entry(self.store.clone(), programs).of_boot(number);
        let proof = Proof { entry, same_random_numbers: self.same_random_numbers, interrupt };
        let kept = self.built.kept_template(&proof.entry, programs);
        if let Some(kept) = kept.and_then(|kept| proof.of_kept(kept)) {
            return Ok(Ok(kept));
        }
        let started = self.built.start_template(programs)?;
        on_event(BootEvent::CommandLine(started.command_line()));
        match started.wait_for_template(interrupt, &mut |line| on_event(BootEvent::Console(line))) {
            Ok(template) => proof.of_new(template),
            Err(failure) => Ok(Err(failure)),
        }
    }
}
