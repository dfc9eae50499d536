//! A booted machine that others are cloned from.
//!
//! It stopped when its agent had frames hello. A clone maps its memory privately, reads the state of its devices
//! and goes on from there, so that it costs what it does and not what it is.
//!
//! * [`wake`]: from a clone's start to its first answer
//! * [`unpack`]: programs come into a clone
//! * [`measure`]: a clone that measures
//! * [`log`]: the kernel's log in its memory
//! * [`entry`]: a template in the store, between runs

mod entry;
mod log;
mod measure;
mod unpack;
mod wake;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;
use crate::instrument;
use crate::memory::Memory;
use crate::spec::Spec;
use crate::vmm::launch::{Origin, inherited};
use crate::vmm::start::{Files, start};
use crate::vmm::{Frozen, Vmm};
use crate::window::Window;

pub use entry::TemplateEntry;
pub(crate) use entry::fingerprint;
pub(crate) use log::kernel_log;

/// What the program of a clone is started with.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) spec: Spec,
    pub(crate) program: PathBuf,
    pub(crate) image: PathBuf,
    pub(crate) system_map: Option<PathBuf>,
    /// Through which programs come into a clone, where they are not in the initramfs.
    pub(crate) window: Option<Arc<Window>>,
}

/// A booted machine that others are cloned from.
#[derive(Debug)]
pub struct Template {
    body: Body,
    memory: Memory,
    frozen: Frozen,
    about: About,
}

/// What is worth knowing about a template.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct About {
    /// `uname -r`.
    pub release: String,
    /// From the start of its program to the agent's hello.
    pub took: Duration,
    /// The lines of its console up to there.
    pub console: Vec<String>,
    /// Its agent can look through a window.
    pub window: bool,
}

impl Template {
    pub(crate) fn new(body: Body, memory: Memory, frozen: Frozen, about: About) -> Self {
        Self { body, memory, frozen, about }
    }

    /// What is worth knowing about it.
    #[must_use]
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Memory that the guest had used, in bytes: what clones share.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.memory.size()
    }

    /// Starts a machine that goes on where this one stopped, with the files of a measuring one if it is one.
    fn start(&self, instrument: Option<instrument::Files<OwnedFd>>) -> Result<Vmm, Error> {
        let Body { spec, program, image, system_map, window } = &self.body;
        let files = Files { program, image, system_map: system_map.as_deref() };
        let window = window.as_ref().map(|window| window.descriptor()).transpose()?;
        let origin = Origin::Clone { memory: self.memory.descriptors()?, state: self.state()?, window };
        let (machine, _) = start(spec, files, (origin, instrument))?;
        Ok(machine.cloned(self.frozen.frames))
    }

    /// The state of the devices, to be read from its beginning.
    fn state(&self) -> Result<OwnedFd, Error> {
        self.state_file().map(OwnedFd::from).map_err(|source| Error::host("state of a template", source))
    }

    fn state_file(&self) -> io::Result<File> {
        // Descriptors of one opening would share their place in the file.
        File::open(inherited(self.frozen.state.as_raw_fd()))
    }
}
