//! Where machines come from.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kernel::Kernel;
use machine::{BootFailure, Built, Error, Machine, Spec};

/// Makes machines, each as fresh as the first.
pub trait Source {
    /// Boots one; `heard` gets the command line of its program and every line of the console on the way.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A kernel that does not boot is the inner error.
    fn boot(
        &mut self,
        interrupt: &AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Up, BootFailure>, Error>;
}

/// Something that is known before the machine is up.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
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
    /// From its start to the agent's hello.
    pub took: Duration,
}

impl std::fmt::Debug for Up {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Up").field("release", &self.release).field("took", &self.took).finish_non_exhaustive()
    }
}

/// Boots a Kernel in a machine that is a program of this host: QEMU or UML.
#[derive(Debug)]
pub struct HostedSource<'a> {
    built: Built<'a>,
}

impl<'a> HostedSource<'a> {
    /// Prepares everything that does not change from boot to boot.
    ///
    /// # Errors
    ///
    /// When the host or what the user asked for does not allow it.
    pub fn new(spec: &'a Spec, kernel: &'a Kernel) -> Result<Self, Error> {
        Ok(Self { built: Built::new(spec, kernel)? })
    }
}

impl Source for HostedSource<'_> {
    fn boot(
        &mut self,
        interrupt: &AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Up, BootFailure>, Error> {
        let started = self.built.start()?;
        heard(Heard::CommandLine(started.command_line()));
        let booted = started.wait_for_hello(interrupt, &mut |line| heard(Heard::Console(line)));
        Ok(booted.map(|booted| Up {
            machine: Box::new(booted.machine),
            release: booted.release,
            took: booted.took,
        }))
    }
}
