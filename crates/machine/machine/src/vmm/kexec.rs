//! A machine goes over to another kernel: its program, its devices and what is in its window stay.

use std::sync::Arc;
use std::time::Instant;

use kernel::Kernel;
use protocol::ToAgent;
use protocol::job::{KEXEC_IMAGE, KEXEC_INITRAMFS, Order};

use super::boot::Starting;
use super::own::Own;
use super::{Frames, Vmm};
use crate::error::Error;
use crate::initramfs::Archive;
use crate::spec::Spec;
use crate::window::Window;
use crate::{Machine, required_config};

/// A kernel that a machine goes over to.
#[derive(Debug)]
pub struct Successor<'a> {
    spec: &'a Spec,
    kernel: &'a Kernel,
    files: Arc<[(&'static str, Vec<u8>)]>,
}

impl<'a> Successor<'a> {
    /// Reads all that the agent needs for it.
    ///
    /// # Errors
    ///
    /// When the kernel cannot come up here, or something cannot be read.
    pub fn new(spec: &'a Spec, kernel: &'a Kernel) -> Result<Self, Error> {
        required_config::check(spec.engine, kernel.config.as_ref())?;
        let path = &kernel.image;
        let image = std::fs::read(path).map_err(|source| Error::host(&path.display().to_string(), source))?;
        let files = [(KEXEC_IMAGE, image), (KEXEC_INITRAMFS, spec.payload.initramfs()?)];
        Ok(Self { spec, kernel, files: Arc::new(files) })
    }

    /// The files that the agent needs, by their paths.
    #[must_use]
    pub fn files(&self) -> Arc<[(&'static str, Vec<u8>)]> {
        Arc::clone(&self.files)
    }

    /// What the agent is asked before [`Successor::start_in`].
    #[must_use]
    pub fn load(&self) -> Order {
        Order::LoadKernel { parameters: self.spec.parameters() + "\0" }
    }

    /// Has the agent of a machine go over to it, as the order of this number; another agent says hello then.
    ///
    /// # Errors
    ///
    /// When the host gives no random numbers.
    pub fn start_in(&self, mut machine: Vmm, number: u32) -> Result<Starting<'a>, Error> {
        machine.send(&ToAgent::Do { number, order: Order::Kexec });
        let now = Instant::now();
        Ok(Starting {
            // What it has waited before does not count.
            start: now.checked_sub(machine.waited()).unwrap_or(now),
            machine: machine.after(Frames { received: 0, sent: 0 }),
            command_line: String::new(),
            spec: self.spec,
            console: self.spec.engine.console_support(self.kernel.config.as_ref()),
            memory: None,
            template: None,
            channel: None,
            own: Own::new(true)?,
        })
    }
}

impl Vmm {
    /// Lays files into the machine's window; gives the ranges that the agent unpacks, or nothing where there is no window, or
    /// not enough room.
    ///
    /// # Errors
    ///
    /// When the host cannot write it.
    pub fn fill_window(&self, files: &[(&str, Vec<u8>)]) -> Result<Option<Vec<(u32, u32)>>, Error> {
        let Some(file) = &self.window else { return Ok(None) };
        let file = file.try_clone().map_err(|source| Error::host("the window for programs", source))?;
        let mut archive = Archive::default();
        for (path, content) in files {
            archive.file(path, content.clone(), 0o600);
        }
        Ok(Window::filled(file, &archive)?.map(|window| window.ranges(None)))
    }
}
