//! Templates of which a clone has come up here and now.
//!
//! A QEMU can refuse what another one wrote, and then nothing may be called a defect of the kernel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use machine::payload::Wanted;
use machine::template::TemplateEntry;
use machine::{BootFailure, BootTrouble, Booted, Error};

use super::{Facts, Template, Up};

/// What a template is proven with.
pub(super) struct Proof<'a> {
    /// Where it is kept.
    pub(super) entry: TemplateEntry,
    pub(super) same_random_numbers: bool,
    pub(super) interrupt: &'a AtomicBool,
}

/// A template of which one clone has come up.
pub(super) struct Proven<'a> {
    proof: Proof<'a>,
    template: Arc<machine::Template>,
    kept: bool,
    /// The clone that proves it, until somebody wants one.
    spare: Mutex<Option<Booted>>,
    /// Ends before the template goes.
    _keeper: Option<Keeper<'a>>,
}

/// Writes a template to the store while the first cases run.
struct Keeper<'a> {
    thread: Option<JoinHandle<()>>,
    is_given_up: Arc<AtomicBool>,
    interrupt: &'a AtomicBool,
}

impl<'a> Proof<'a> {
    /// One of an earlier run; nothing if it is of no use any more.
    pub(super) fn of_kept(&self, template: machine::Template) -> Option<Proven<'a>> {
        let proven = self.of(template).ok()?.ok()?;
        Some(Proven { kept: true, ..proven })
    }

    /// One that has just been made, and is kept from now on.
    pub(super) fn of_new(
        &self,
        template: machine::Template,
    ) -> Result<Result<Proven<'a>, BootFailure>, Error> {
        let proven = self.of(template)?;
        Ok(proven.map(Proven::keep_it).map_err(|failure| match failure.trouble {
            BootTrouble::Machine(why) => BootFailure::unclonable(why),
            _ => failure,
        }))
    }

    fn of(&self, template: machine::Template) -> Result<Result<Proven<'a>, BootFailure>, Error> {
        let clone = template.clone_machine(self.same_random_numbers, self.interrupt)?;
        Ok(clone.map(|spare| Proven {
            proof: Proof { entry: self.entry.clone(), ..*self },
            template: Arc::new(template),
            kept: false,
            spare: Mutex::new(Some(spare)),
            _keeper: None,
        }))
    }
}

impl Proven<'_> {
    /// Whether programs can come into its clones.
    pub(super) fn has_window(&self) -> bool {
        self.template.about().window
    }

    /// A clone with the files that are `wanted`, or all.
    pub(super) fn booted(
        &self,
        wanted: Option<&Wanted>,
        interrupt: &AtomicBool,
    ) -> Result<Result<Booted, BootFailure>, Error> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        let clone = match spare {
            Some(spare) => Ok(spare),
            None => self.template.clone_machine(self.proof.same_random_numbers, interrupt)?,
        };
        Ok(clone.and_then(|mut clone| self.template.unpack(&mut clone, wanted, interrupt).map(|()| clone)))
    }

    fn keep_it(self) -> Self {
        let (template, entry) = (Arc::clone(&self.template), self.proof.entry.clone());
        let is_given_up = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_given_up);
        let thread = std::thread::spawn(move || {
            // What cannot be kept costs the next run a boot, and nothing else.
            let _ = entry.keep(&template, &stop);
        });
        let keeper = Keeper { thread: Some(thread), is_given_up, interrupt: self.proof.interrupt };
        Self { _keeper: Some(keeper), ..self }
    }
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        self.is_given_up.fetch_or(self.interrupt.load(Ordering::Relaxed), Ordering::Relaxed);
        // A thread that panicked has kept nothing.
        self.thread.take().map(JoinHandle::join);
    }
}

impl<'a> Template<'a> for Proven<'a> {
    fn facts(&self) -> Facts<'_> {
        let about = self.template.about();
        Facts { release: &about.release, took: about.took, console: &about.console, kept: self.kept }
    }

    fn clone_machine(
        &self,
        wanted: &Wanted,
        interrupt: &AtomicBool,
    ) -> Result<Result<Up, BootFailure>, Error> {
        Ok(self.booted(Some(wanted), interrupt)?.map(Up::from))
    }
}
