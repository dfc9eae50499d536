//! Where Kernels and machines come from: this host, or a fake of it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kbuild::SourceTree;
use kernel::{Caller, Context, Kernel, News, Store};
use machine::Spec;
use root::{Root, RootLocator};

use crate::request::KernelRequest;
use crate::source::{Source, VmmSource};
use measure::{Candidate, Counting, Failure, Measurement, Progress};

/// What long work needs to know and to say.
pub struct Waiting<'a> {
    /// Whoever waits wants to stop.
    pub interrupt: &'a AtomicBool,
    /// Gets what is reported meanwhile: a download, a step of a build, a note about it.
    pub progress: &'a mut dyn FnMut(News<'_>),
}

impl Waiting<'_> {
    /// The same for work that is no matter of the store.
    pub(crate) fn caller(&mut self) -> Caller<'_> {
        Caller { listener: self.progress, interrupt: self.interrupt }
    }
}

impl std::fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting").field("interrupt", &self.interrupt).finish_non_exhaustive()
    }
}

/// Where Kernels and machines come from.
pub trait Backend: Sync {
    /// The Kernel that is asked for; source is built first.
    ///
    /// # Errors
    ///
    /// When there is none, or it does not build.
    fn kernel(&self, wanted: &KernelRequest, waiting: &mut Waiting<'_>) -> Result<Kernel, kbuild::Error>;

    /// The root that is asked for, which is made first if need be.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be made.
    fn root(&self, wanted: &RootLocator, waiting: &mut Waiting<'_>) -> Result<Root, root::Error>;

    /// Machines of this kind for a Kernel. Clones have random numbers of their own, or, with `same_random_numbers`, those
    /// of their template.
    ///
    /// # Errors
    ///
    /// When the host or what the user asked for does not allow it.
    fn machines<'a>(
        &'a self,
        spec: &'a Spec,
        kernel: &'a Kernel,
        same_random_numbers: bool,
    ) -> Result<Box<dyn Source + 'a>, machine::Error>;

    /// By what figures come about, as a hash: see [`measure::procedure()`].
    ///
    /// # Errors
    ///
    /// When there is nothing to measure with.
    fn procedure(&self) -> Result<String, machine::Error>;

    /// Counts instructions.
    ///
    /// # Errors
    ///
    /// When a Kernel cannot be measured, or `interrupt` is set.
    fn count(
        &self,
        candidates: &[Candidate<'_>],
        how: Counting,
        interrupt: &AtomicBool,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Measurement>, Failure>;

    /// Measures time; `next` says which Kernel is booted next, until it knows enough.
    ///
    /// # Errors
    ///
    /// When a Kernel cannot be measured, or `interrupt` is set.
    fn time(
        &self,
        candidates: &[Candidate<'_>],
        interrupt: &AtomicBool,
        emit: &mut dyn FnMut(Progress),
        next: &mut dyn FnMut(&[Measurement]) -> Option<usize>,
    ) -> Result<Vec<Measurement>, Failure>;
}

/// This host: kernels out of its store, machines that are programs of it.
#[derive(Debug, Clone, Copy)]
pub struct HostBackend;

impl Backend for HostBackend {
    fn kernel(&self, wanted: &KernelRequest, waiting: &mut Waiting<'_>) -> Result<Kernel, kbuild::Error> {
        if let Some(option) = wanted.idle_option() {
            return Err(kbuild::Error::NothingToBuild { locator: wanted.locator.to_string(), option });
        }
        with_store(waiting, |context| match wanted.is_built() {
            true => kbuild::build(&wanted.locator, &wanted.build.recipe(), context),
            false => Ok(kernel::resolve(&wanted.locator, context)?),
        })
    }

    fn root(&self, wanted: &RootLocator, waiting: &mut Waiting<'_>) -> Result<Root, root::Error> {
        with_store(waiting, |context| root::resolve(wanted, context))
    }

    fn machines<'a>(
        &'a self,
        spec: &'a Spec,
        kernel: &'a Kernel,
        same_random_numbers: bool,
    ) -> Result<Box<dyn Source + 'a>, machine::Error> {
        Ok(Box::new(VmmSource::new(spec, kernel, store(), same_random_numbers)?))
    }

    fn procedure(&self) -> Result<String, machine::Error> {
        measure::procedure()
    }

    fn count(
        &self,
        candidates: &[Candidate<'_>],
        how: Counting,
        interrupt: &AtomicBool,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Measurement>, Failure> {
        measure::count(candidates, &store(), how, interrupt, emit)
    }

    fn time(
        &self,
        candidates: &[Candidate<'_>],
        interrupt: &AtomicBool,
        emit: &mut dyn FnMut(Progress),
        next: &mut dyn FnMut(&[Measurement]) -> Option<usize>,
    ) -> Result<Vec<Measurement>, Failure> {
        measure::time(candidates, interrupt, emit, next)
    }
}

impl KernelRequest {
    /// Builds it, whatever it names.
    ///
    /// # Errors
    ///
    /// When it is no source, or does not build.
    pub fn build_it(&self, waiting: &mut Waiting<'_>) -> Result<Kernel, kbuild::Error> {
        with_store(waiting, |context| kbuild::build(&self.locator, &self.build.recipe(), context))
    }

    /// The source of a Kernel that kiln builds.
    ///
    /// # Errors
    ///
    /// When it cannot be had.
    pub fn source(&self, waiting: &mut Waiting<'_>) -> Result<Option<SourceTree>, kbuild::Error> {
        let tree =
            |context: &mut Context<'_>| kbuild::source_tree(&self.locator, &self.build.recipe(), context);
        self.is_built().then(|| with_store(waiting, tree)).transpose()
    }
}

/// Does something with the store of this host.
pub fn with_store<T>(waiting: &mut Waiting<'_>, work: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let store = store();
    work(&mut Context { store: &store, listener: waiting.progress, interrupt: waiting.interrupt })
}

/// Where Kernels, builds and templates are kept.
#[must_use]
pub fn store() -> Store {
    Store::new(Store::default_dir())
}

/// Its folder.
pub(crate) fn store_folder() -> PathBuf {
    Store::default_dir()
}
