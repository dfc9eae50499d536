//! From the start of a machine's program to the agent's hello.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use kernel::Kernel;
use protocol::FromAgent;

use super::launch::{self, Numbers, Parts, quote, socket_pair};
use super::own::Own;
use super::process::Process;
use super::{Hosted, Raw, readers};
use crate::engine::Engine;
use crate::error::{BootFailure, BootTrouble, Error};
use crate::host::QemuProgram;
use crate::spec::Spec;
use crate::{Death, Event, Facts, Machine, fitness, qemu, uml};

/// Events that may wait in the queue; each holds at most 16 KiB.
const QUEUE: usize = 256;

/// How often the user's wish to stop is looked at.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// Lines of the console that are shown with a failure.
const CONSOLE_LINES: usize = 30;

/// Everything that a machine is made of, ready to be started.
#[derive(Debug)]
pub struct Built<'a> {
    spec: &'a Spec,
    kernel: &'a Kernel,
    initramfs: Vec<u8>,
    program: PathBuf,
}

/// A machine whose agent has said hello.
#[derive(Debug)]
pub struct Booted {
    /// The machine.
    pub machine: Hosted,
    /// `uname -r`.
    pub release: String,
    /// From the start of its program to the hello.
    pub took: Duration,
}

/// A machine on its way to the agent's hello.
#[derive(Debug)]
pub struct Starting<'a> {
    machine: Hosted,
    command_line: String,
    spec: &'a Spec,
    start: Instant,
    own: Own,
}

impl<'a> Built<'a> {
    /// Makes the initramfs and looks at the host.
    ///
    /// # Errors
    ///
    /// When the kernel cannot come up here, QEMU is missing, the memory does not suffice, or something
    /// cannot be read.
    pub fn new(spec: &'a Spec, kernel: &'a Kernel) -> Result<Self, Error> {
        fitness::check(spec.engine, kernel.config.as_ref())?;
        let initramfs = spec.payload.initramfs()?;
        let needed = Spec::least_memory_mib(initramfs.len());
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
        Ok(Self { spec, kernel, initramfs, program })
    }

    /// Size of the initramfs in bytes.
    #[must_use]
    pub fn initramfs_size(&self) -> usize {
        self.initramfs.len()
    }

    /// The command line that a start would use, with made-up numbers for its descriptors.
    #[must_use]
    pub fn command_line(&self) -> String {
        let numbers = Numbers::example(self.spec.disk_mib > 0);
        quote(&match self.spec.engine {
            Engine::Qemu(accel) => qemu::example(self.spec, accel, self.files(), &numbers),
            Engine::Uml => uml::command(self.spec, &self.program, &numbers),
        })
    }

    /// The program and the image that it gets.
    fn files(&self) -> (&Path, &Path) {
        (&self.program, &self.kernel.image)
    }

    /// Starts the machine.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start(&self) -> Result<Starting<'a>, Error> {
        let start = Instant::now();
        let (console, its_console) = socket_pair()?;
        launch::hold_much(&its_console);
        let (control, its_control) = socket_pair()?;
        let parts = Parts {
            console: its_console.into(),
            control: its_control.into(),
            initramfs: launch::in_memory("initramfs", &self.initramfs)?,
            disk: (self.spec.disk_mib > 0).then(|| launch::disk(self.spec.disk_mib)).transpose()?,
        };
        let (sender, events) = sync_channel(QUEUE);
        let launch = match self.spec.engine {
            Engine::Qemu(accel) => qemu::launch(self.spec, accel, self.files(), parts, &sender)?,
            Engine::Uml => uml::launch(self.spec, &self.program, parts)?,
        };
        let command_line = quote(&launch.command);
        let process = Process::start(launch.command, launch.inherited, sender.clone())?;
        let copy = |socket: &UnixStream| socket.try_clone().map_err(|source| Error::host("socket", source));
        readers::read_port(copy(&console)?, sender.clone(), Raw::Console);
        readers::read_port(copy(&control)?, sender, Raw::Control);
        let machine = Hosted::new(process, launch.driver, events, console, control);
        Ok(Starting { machine, command_line, spec: self.spec, start, own: Own::new()? })
    }
}

impl Starting<'_> {
    /// The command line of its program, as a shell reads it.
    #[must_use]
    pub fn command_line(&self) -> &str {
        &self.command_line
    }

    /// Follows the machine to the agent's hello; `console` gets every line on the way.
    ///
    /// # Errors
    ///
    /// When the kernel does not boot, or `interrupt` is set.
    pub fn wait_for_hello(
        mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<Booted, BootFailure> {
        let mut heard = self.start;
        while !interrupt.load(Ordering::Relaxed) {
            let deadline = (self.start + self.spec.boot_limit).min(heard + self.spec.silence_limit);
            let event = self.machine.next(deadline.min(Instant::now() + INTERRUPT_INTERVAL));
            match event {
                Event::Console(line) => {
                    heard = Instant::now();
                    console(&line);
                    if line.contains("kiln: no control port") {
                        return Err(self.fail(self.no_control_port()));
                    }
                }
                Event::Agent(FromAgent::Hello { protocol, .. }) if protocol != protocol::VERSION => {
                    return Err(self.fail(BootTrouble::Protocol(protocol)));
                }
                Event::Agent(FromAgent::Hello { release, .. }) => return Ok(self.greet(release)),
                // What comes before the hello is the driver's or the firmware's.
                Event::Agent(_) | Event::Stranger(_) => {}
                Event::Ended(death) => return Err(self.fail(self.trouble(death))),
                Event::Quiet if Instant::now() >= deadline => {
                    return Err(self.too_late(heard));
                }
                Event::Quiet => {}
            }
        }
        Err(self.fail(BootTrouble::Interrupted))
    }

    /// The time is over: the kernel has been silent, or it talked to the end.
    fn too_late(&mut self, heard: Instant) -> BootFailure {
        // A user's limit may be over before the silence is as long as it usually must be.
        if heard.elapsed() >= self.spec.silence_limit / 2 {
            return self.silent(heard.elapsed());
        }
        self.fail(BootTrouble::Late(self.start.elapsed().as_secs()))
    }

    fn greet(mut self, release: String) -> Booted {
        self.machine.tell(&self.own.message());
        Booted { machine: self.machine, release, took: self.start.elapsed() }
    }

    fn silent(&mut self, silence: Duration) -> BootFailure {
        let (lines, seconds) = (self.machine.console.lines(), silence.as_secs());
        let trouble = match lines {
            0 => BootTrouble::NoConsole { seconds, option: self.spec.engine.console_option() },
            _ => BootTrouble::Hang { lines, seconds },
        };
        // The console as it was before the kernel is provoked.
        let failure = self.fail(trouble);
        BootFailure { facts: self.machine.examine(), ..failure }
    }

    fn fail(&self, trouble: BootTrouble) -> BootFailure {
        BootFailure { trouble, console: self.machine.console.tail(CONSOLE_LINES), facts: Facts::default() }
    }

    fn trouble(&self, death: Death) -> BootTrouble {
        match death {
            Death::Panic(title) => BootTrouble::Panic(title),
            Death::AgentDied(title) => BootTrouble::AgentDied(title),
            Death::Reset => BootTrouble::Reset,
            Death::Fault(signal) => BootTrouble::Fault(signal),
            Death::Restarted => BootTrouble::Panic("the kernel restarted before user space".to_string()),
            // The agent gives up when it finds no port. A kernel with one serial port drops its console for
            // the second one, so that the agent's own words about it may be lost.
            Death::PoweredOff => self.no_control_port(),
            Death::Broken(text) => BootTrouble::Machine(text),
        }
    }

    fn no_control_port(&self) -> BootTrouble {
        BootTrouble::NoControlPort { option: self.spec.engine.port_option() }
    }
}
