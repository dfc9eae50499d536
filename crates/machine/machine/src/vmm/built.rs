//! All that a machine is made of, ready to be started.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hardware::{Backing, Device};
use kernel::{Kernel, Store};
use protocol::measure::Order;

use super::boot::Starting;
use super::launch::{self, Numbers, Origin, quote, tpm};
use super::own::Own;
use super::start::{self, Files};
use crate::connections::Connections;
use crate::engine::Engine;
use crate::error::{BootFailure, Error};
use crate::host::QemuProgram;
use crate::initramfs::Archive;
use crate::instrument::{Channel, Exchange, Watch};
use crate::memory::Memory;
use crate::spec::Spec;
use crate::template::{Body, Template, TemplateEntry, fingerprint};
use crate::window::Window;
use crate::{qemu, required_config, uml};

/// The number of the root's descriptor in a command line that is only shown.
const EXAMPLE_ROOT: i32 = 10;

/// Everything that a machine is made of, ready to be started.
#[derive(Debug)]
pub struct Built<'a> {
    spec: &'a Spec,
    kernel: &'a Kernel,
    /// What every machine of it boots from.
    boot: Archive,
    /// What it has besides.
    files: Archive,
    /// Where clones find them, if that is where they come from.
    window: Option<Arc<Window>>,
    program: PathBuf,
}

/// How what a machine has besides the agent comes into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Programs {
    /// In the initramfs: a template holds them.
    Inside,
    /// Through a window, into a clone: a template is the same for all.
    Later,
}

impl<'a> Built<'a> {
    /// Reads all that the machine needs and looks at the host.
    ///
    /// # Errors
    ///
    /// When the kernel cannot come up here, QEMU is missing, the memory does not suffice, or something
    /// cannot be read.
    pub fn new(spec: &'a Spec, kernel: &'a Kernel) -> Result<Self, Error> {
        required_config::check(spec.engine, kernel.config.as_ref())?;
        check_devices(spec)?;
        let (boot, files) = (spec.payload.boot()?, spec.payload.files()?);
        let needed = Spec::least_memory_mib(files.size() + boot.size());
        if spec.memory_mib < needed {
            return Err(Error::SmallMemory { asked: spec.memory_mib, needed });
        }
        if let Some(available) =
            ::host::available_memory_mib().filter(|&available| available < spec.memory_mib)
        {
            return Err(Error::NoMemory { asked: spec.memory_mib, available });
        }
        let program = match spec.engine {
            Engine::Qemu(_) => QemuProgram::locate()?,
            Engine::Uml => kernel.image.clone(),
        };
        let built = Self { spec, kernel, boot, files, window: None, program };
        let window = built.may_have_window().then(|| Window::holding(&built.files)).transpose()?;
        Ok(Self { window: window.flatten().map(Arc::new), ..built })
    }

    /// What measures is to find everything where it was in the boot before.
    fn may_have_window(&self) -> bool {
        matches!((self.spec.engine, self.spec.timing), (Engine::Qemu(_), None))
    }

    /// Size of the initramfs in bytes.
    #[must_use]
    pub fn initramfs_size(&self) -> usize {
        self.initramfs(Programs::Inside).len()
    }

    fn initramfs(&self, programs: Programs) -> Vec<u8> {
        match programs {
            Programs::Inside => self.boot.finish_with(&self.files),
            Programs::Later => self.boot.finish(),
        }
    }

    /// How programs come into clones of this machine, as far as can be told before it has booted.
    #[must_use]
    pub fn programs(&self) -> Programs {
        if self.window.is_some() { Programs::Later } else { Programs::Inside }
    }

    /// The command line that a start would use, with made-up numbers for its descriptors.
    #[must_use]
    pub fn command_line(&self) -> String {
        let mut numbers = Numbers::example(self.spec.disk_mib > 0, self.spec.timing.is_some());
        numbers.root = self.spec.image().map(|_| EXAMPLE_ROOT);
        let numbers = numbers.with_devices(&self.spec.hardware);
        quote(&match self.spec.engine {
            Engine::Qemu(accel) => qemu::example(self.spec, accel, self.files(), &numbers),
            Engine::Uml => uml::command(self.spec, &self.program, &numbers),
        })
    }

    /// The program and the image that it gets.
    fn files(&self) -> Files<'_> {
        let Kernel { image, system_map, .. } = self.kernel;
        Files { program: &self.program, image, system_map: system_map.as_deref() }
    }

    /// Starts the machine.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start(&self) -> Result<Starting<'a>, Error> {
        self.start_from(Programs::Inside, None, None)
    }

    /// Whether machines of this engine can be cloned at all.
    ///
    /// # Errors
    ///
    /// Why they cannot.
    pub fn can_be_cloned(&self) -> Result<(), BootFailure> {
        match self.spec.engine {
            Engine::Qemu(_) => {
                self.spec.hardware.uncloneable().map_or(Ok(()), |why| Err(BootFailure::unclonable(why)))
            }
            Engine::Uml => {
                Err(BootFailure::unclonable("the state of UML is spread over processes of the host"))
            }
        }
    }

    /// Starts a machine that others are going to be cloned from.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start_template(&self, programs: Programs) -> Result<Starting<'a>, Error> {
        self.start_from(programs, Some(self.body(programs)), None)
    }

    /// Starts a machine that does what `order` says as soon as it has booted.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start_measuring(&self, order: &Order) -> Result<Starting<'a>, Error> {
        self.start_from(Programs::Inside, None, Some(order))
    }

    /// Where a template of this machine is kept between runs.
    #[must_use]
    pub fn template_entry(&self, store: Store, programs: Programs) -> TemplateEntry {
        // A later kiln may start the program in another way.
        let (identity, line) = (self.kernel.identity(&self.spec.parameters()), self.command_line());
        let Spec { disk_mib, aging, root, .. } = self.spec;
        let root = root.as_ref().map(|root| root.identity.clone()).unwrap_or_default();
        let files = fingerprints(self.spec);
        let description =
            [identity, line, disk_mib.to_string(), format!("{aging:?} {programs:?}"), root, files];
        TemplateEntry::new(store, &description, &self.program, &self.initramfs(programs))
    }

    /// The template of an earlier run, if it is kept.
    #[must_use]
    pub fn kept_template(&self, entry: &TemplateEntry, programs: Programs) -> Option<Template> {
        entry.find(self.body(programs))
    }

    fn body(&self, programs: Programs) -> Body {
        let window = self.window.clone().filter(|_| programs == Programs::Later);
        Body {
            spec: self.spec.bare(),
            program: self.program.clone(),
            image: self.kernel.image.clone(),
            system_map: self.kernel.system_map.clone(),
            window,
        }
    }

    /// What will be its memory. UML makes that itself.
    fn memory(&self) -> Result<Option<Memory>, Error> {
        match self.spec.engine {
            Engine::Qemu(_) => Memory::new(&self.spec.memory_sizes()).map(Some),
            Engine::Uml => Ok(None),
        }
    }

    fn start_from(
        &self,
        programs: Programs,
        template: Option<Body>,
        order: Option<&Order>,
    ) -> Result<Starting<'a>, Error> {
        let initramfs = launch::in_memory("initramfs", &self.initramfs(programs))?;
        let memory = self.memory()?;
        // One whose programs are inside needs it for kexec. What is cloned has the devices of its clones: QEMU refuses another state.
        let has_window = template.as_ref().map_or(self.may_have_window(), |body| body.window.is_some());
        let window = has_window.then(Window::empty).transpose()?;
        let window = window.as_ref().map(Window::descriptor).transpose()?;
        let files = memory.as_ref().map(Memory::descriptors).transpose()?.unwrap_or_default();
        let origin = Origin::Boot { initramfs, memory: files, window };
        let start = Instant::now();
        let channel = self.spec.timing.map(|_| Channel::new(Exchange::new(order)?, Watch::No)).transpose()?;
        let (channel, files) = channel.unzip();
        // What others are cloned from has its ends of nothing.
        let unconnected = Spec { connections: Connections::default(), ..self.spec.bare() };
        let spec = if template.is_some() { &unconnected } else { self.spec };
        let (machine, command_line) = start::start(spec, self.files(), (origin, files))?;
        Ok(Starting {
            machine,
            command_line,
            spec: self.spec,
            console: self.spec.engine.console_support(self.kernel.config.as_ref()),
            memory,
            template,
            channel,
            start,
            own: Own::new(true)?,
        })
    }
}

/// Whether this host and this engine can have all devices.
fn check_devices(spec: &Spec) -> Result<(), Error> {
    for device in &spec.hardware.devices {
        if spec.engine == Engine::Uml && !uml::can_have(device) {
            return Err(Error::UmlDevice { device: device.to_string() });
        }
        if let Some(file) = device.host_file().filter(|file| !Path::new(file).exists()) {
            return Err(Error::NoHostFile { device: device.to_string(), file });
        }
        if matches!(device, Device::Tpm(_)) {
            tpm::locate()?;
        }
    }
    Ok(())
}

/// What changes when a file behind a device does, or the image of the root, which may be made again with other files where
/// the same packages are installed: a template has read some of it.
fn fingerprints(spec: &Spec) -> String {
    let backings = spec.hardware.backings().concat();
    let read = backings
        .iter()
        .filter_map(|backing| if let Backing::Read(path) = backing { Some(path) } else { None });
    let all = read.chain(spec.image().map(|image| &image.path));
    all.map(|path| fingerprint(path)).collect::<Vec<_>>().join("\n")
}
