//! Machines that are programs of this host: QEMU or UML.

use std::sync::atomic::AtomicBool;

use kernel::{Kernel, Store};
use machine::{BootFailure, Booted, Built, Error, Spec};

use super::proven::Proof;
use super::{Heard, Source, Template, Up};

/// Boots a Kernel in a machine that is a program of this host: QEMU or UML.
#[derive(Debug)]
pub struct HostedSource<'a> {
    built: Built<'a>,
    /// Where templates are kept.
    store: Store,
    /// Clones go on with the random numbers of their template.
    same_random_numbers: bool,
}

impl<'a> HostedSource<'a> {
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
        Ok(Self { built: Built::new(spec, kernel)?, store, same_random_numbers })
    }
}

impl Source for HostedSource<'_> {
    fn boot(
        &self,
        interrupt: &AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Up, BootFailure>, Error> {
        let started = self.built.start()?;
        heard(Heard::CommandLine(started.command_line()));
        let booted = started.wait_for_hello(interrupt, &mut |line| heard(Heard::Console(line)));
        Ok(booted.map(up))
    }

    fn template<'s>(
        &'s self,
        interrupt: &'s AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Box<dyn Template<'s> + 's>, BootFailure>, Error> {
        if let Err(failure) = self.built.can_be_cloned() {
            return Ok(Err(failure));
        }
        let keep = self.built.keep(self.store.clone());
        let proof = Proof { keep, same_random_numbers: self.same_random_numbers, interrupt };
        if let Some(kept) = self.built.kept_template(&proof.keep).and_then(|kept| proof.of_kept(kept)) {
            return Ok(Ok(Box::new(kept)));
        }
        let started = self.built.start_template()?;
        heard(Heard::CommandLine(started.command_line()));
        let template = started.wait_for_template(interrupt, &mut |line| heard(Heard::Console(line)));
        match template {
            Ok(template) => {
                Ok(proof.of_new(template)?.map(|template| Box::new(template) as Box<dyn Template<'_>>))
            }
            Err(failure) => Ok(Err(failure)),
        }
    }
}

pub(super) fn up(booted: Booted) -> Up {
    Up { machine: Box::new(booted.machine), release: booted.release, took: booted.took }
}
