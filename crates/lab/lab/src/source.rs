//! Where machines come from.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use machine::payload::Wanted;
use machine::{BootFailure, Booted, Error, Machine};

mod proven;
mod vmm;

pub use vmm::VmmSource;

/// Makes machines, each as fresh as the first.
pub trait Source: Sync {
    /// Boots one; `on_event` gets the command line of its program and every line of the console on the way.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A kernel that does not boot is the inner error.
    fn boot(
        &self,
        interrupt: &AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Up, BootFailure>, Error>;

    /// Boots one that others are cloned from, or finds one that an earlier run has kept; `on_event` gets the same. Those
    /// with different numbers are different boots.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A kernel that does not boot, or a machine that cannot be cloned, is the
    /// inner error.
    fn template<'s>(
        &'s self,
        _number: u32,
        _interrupt: &'s AtomicBool,
        _on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Box<dyn Template<'s> + 's>, BootFailure>, Error> {
        Ok(Err(BootFailure::unclonable("no reason was given")))
    }
}

/// A booted machine that others are cloned from.
pub trait Template<'s>: Send + Sync {
    /// What is known of it.
    fn facts(&self) -> Facts<'_>;

    /// Makes a machine that goes on where this one stopped, with the files that are `wanted` of what the plan ships.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. One that does not answer is the inner error.
    fn clone_machine(
        &self,
        wanted: &Wanted,
        interrupt: &AtomicBool,
    ) -> Result<Result<Up, BootFailure>, Error>;
}

/// What is known of a template.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// `uname -r`.
    pub release: &'a str,
    /// From its start to the agent's hello.
    pub took: Duration,
    /// Lines of its console up to there.
    pub console: &'a [String],
    /// An earlier run has kept it.
    pub kept: bool,
}

/// Something that is known before the machine is up.
#[derive(Debug, Clone, Copy)]
pub enum BootEvent<'a> {
    /// The command line of the machine's program.
    CommandLine(&'a str),
    /// A line on the console.
    Console(&'a str),
}

/// A machine whose agent is ready for work.
pub struct Up {
    /// The machine.
    pub machine: Box<dyn Machine>,
    /// `uname -r`.
    pub release: String,
    /// From its start to the agent's readiness.
    pub took: Duration,
}

impl From<Booted> for Up {
    fn from(booted: Booted) -> Self {
        Self { machine: Box::new(booted.machine), release: booted.release, took: booted.took }
    }
}

impl std::fmt::Debug for Up {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Up").field("release", &self.release).field("took", &self.took).finish_non_exhaustive()
    }
}
