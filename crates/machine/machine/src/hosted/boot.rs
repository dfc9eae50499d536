//! From the start of a machine's program to the agent's hello.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernel::{Kernel, Store};
use protocol::FromAgent;
use protocol::measure::Order;

use super::launch::{self, Numbers, Origin, quote};
use super::own::Own;
use super::start::{self, Files};
use super::{Hosted, INTERRUPT_INTERVAL};
use crate::engine::Engine;
use crate::error::{BootFailure, BootTrouble, Error};
use crate::host::QemuProgram;
use crate::instrument::{Desk, Exchange, Measuring, Watch};
use crate::spec::Spec;
use crate::template::{About, Body, Keep, Memory, Template};
use crate::{Event, Machine, fitness, qemu, uml};

/// Most lines of its console that a template keeps.
const LINES_MAX: usize = 10_000;

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
    /// What clones are going to be made from, if that is what it is for.
    template: Option<(Body, Memory)>,
    /// What only a machine that measures has.
    desk: Option<Desk>,
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
        let numbers = Numbers::example(self.spec.disk_mib > 0, self.spec.timing.is_some());
        quote(&match self.spec.engine {
            Engine::Qemu(accel) => qemu::example(self.spec, accel, self.files(), &numbers),
            Engine::Uml => uml::command(self.spec, &self.program, &numbers),
        })
    }

    /// The program and the image that it gets.
    fn files(&self) -> Files<'_> {
        Files { program: &self.program, image: &self.kernel.image }
    }

    /// Starts the machine.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start(&self) -> Result<Starting<'a>, Error> {
        let initramfs = launch::in_memory("initramfs", &self.initramfs)?;
        self.start_from(Origin::Boot { initramfs }, None, None)
    }

    /// Whether machines of this engine can be cloned at all.
    ///
    /// # Errors
    ///
    /// Why they cannot.
    pub fn can_be_cloned(&self) -> Result<(), BootFailure> {
        match self.spec.engine {
            Engine::Qemu(_) => Ok(()),
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
    pub fn start_template(&self) -> Result<Starting<'a>, Error> {
        let initramfs = launch::in_memory("initramfs", &self.initramfs)?;
        let memory = Memory::new(self.spec.memory_mib)?;
        let origin = Origin::Template { initramfs, memory: memory.descriptor()? };
        self.start_from(origin, Some((self.body(), memory)), None)
    }

    /// Starts a machine that does what `order` says as soon as it has booted.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start_measuring(&self, order: &Order) -> Result<Starting<'a>, Error> {
        let initramfs = launch::in_memory("initramfs", &self.initramfs)?;
        self.start_from(Origin::Boot { initramfs }, None, Some(order))
    }

    /// Where a template of this machine is kept between runs.
    #[must_use]
    pub fn keep(&self, store: Store) -> Keep {
        // A later kiln may start the program in another way.
        let (identity, line) = (self.kernel.identity(&self.spec.parameters()), self.command_line());
        let description = [identity, line, self.spec.disk_mib.to_string()];
        Keep::new(store, &description, &self.program, &self.initramfs)
    }

    /// The template of an earlier run, if it is kept.
    #[must_use]
    pub fn kept_template(&self, keep: &Keep) -> Option<Template> {
        keep.find(self.body())
    }

    fn body(&self) -> Body {
        Body { spec: self.spec.bare(), program: self.program.clone(), image: self.kernel.image.clone() }
    }

    fn start_from(
        &self,
        origin: Origin<OwnedFd>,
        template: Option<(Body, Memory)>,
        order: Option<&Order>,
    ) -> Result<Starting<'a>, Error> {
        let start = Instant::now();
        let desk = self.spec.timing.map(|_| Desk::new(Exchange::new(order)?, Watch::No)).transpose()?;
        let (desk, files) = desk.unzip();
        let (machine, command_line) = start::start(self.spec, self.files(), (origin, files))?;
        Ok(Starting { machine, command_line, spec: self.spec, template, desk, start, own: Own::new(true)? })
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
        let release = self.follow(interrupt, console)?;
        self.machine.tell(&self.own.message());
        Ok(Booted { machine: self.machine, release, took: self.start.elapsed() })
    }

    /// Follows the machine to the agent's hello and stops it there, to be cloned; `console` gets every line
    /// on the way.
    ///
    /// # Errors
    ///
    /// When the kernel does not boot, `interrupt` is set, or the machine cannot be cloned.
    pub fn wait_for_template(
        mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<Template, BootFailure> {
        let mut lines = Vec::new();
        let release = self.follow(interrupt, &mut |line| {
            if lines.len() < LINES_MAX {
                lines.push(line.to_string());
            }
            console(line);
        })?;
        let Some((body, memory)) = self.template.take() else {
            return Err(self.fail(BootTrouble::Unclonable("it was not started as a template".to_string())));
        };
        if self.spec.timing.is_some() {
            self.follow_to_stop(interrupt)?;
        }
        let saved = self.machine.freeze();
        let frozen = saved.map_err(|why| self.fail(BootTrouble::Unclonable(why)))?;
        let about = About { release, took: self.start.elapsed(), console: lines };
        Ok(Template::new(body, memory, frozen, about))
    }

    /// Follows the machine to the agent's hello; then it measures. `console` gets every line on the way.
    ///
    /// # Errors
    ///
    /// When the kernel does not boot, `interrupt` is set, or it is no machine that measures.
    pub fn wait_for_measuring(
        mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<(Measuring, String, Duration), BootFailure> {
        let release = self.follow(interrupt, console)?;
        let took = self.start.elapsed();
        match self.desk.take() {
            Some(desk) => Ok((Measuring::new(self.machine, desk), release, took)),
            None => Err(self.fail(BootTrouble::Machine("it has no instrument".to_string()))),
        }
    }

    /// Follows a machine that measures to the point where it stops itself.
    fn follow_to_stop(&mut self, interrupt: &AtomicBool) -> Result<(), BootFailure> {
        self.machine.let_guest_go_first();
        let mut trouble = None;
        while !interrupt.load(Ordering::Relaxed) {
            match self.machine.next(Instant::now() + INTERRUPT_INTERVAL) {
                Event::Stopped => return Ok(()),
                Event::Agent(FromAgent::Trouble { text }) => trouble = Some(text),
                Event::Ended(death) => {
                    let of_death = || BootTrouble::of(death, self.spec.engine);
                    return Err(self.fail(trouble.map_or_else(of_death, BootTrouble::Machine)));
                }
                Event::Quiet if self.lived() >= self.spec.boot_limit * 2 => {
                    let why = "its instrument does not come to be ready".to_string();
                    return Err(self.fail(BootTrouble::Machine(why)));
                }
                _ => {}
            }
        }
        Err(self.fail(BootTrouble::Interrupted))
    }

    /// Follows the machine to the agent's hello; gives `uname -r`.
    fn follow(
        &mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<String, BootFailure> {
        let mut heard = Duration::ZERO;
        while !interrupt.load(Ordering::Relaxed) {
            let deadline = self.spec.boot_limit.min(heard + self.spec.silence_limit);
            let left = deadline.saturating_sub(self.lived());
            let event = self.machine.next(Instant::now() + left.min(INTERRUPT_INTERVAL));
            match event {
                Event::Console(line) => {
                    heard = self.lived();
                    console(&line);
                    if line.contains("kiln: no control port") {
                        return Err(self.fail(BootTrouble::no_control_port(self.spec.engine)));
                    }
                }
                Event::Agent(FromAgent::Hello { protocol, .. }) if protocol != protocol::VERSION => {
                    return Err(self.fail(BootTrouble::Protocol(protocol)));
                }
                Event::Agent(FromAgent::Hello { release, .. }) => return Ok(release),
                // What comes before the hello is the driver's or the firmware's.
                Event::Agent(_) | Event::Stranger(_) | Event::Stopped => {}
                Event::Ended(death) => return Err(self.fail(BootTrouble::of(death, self.spec.engine))),
                Event::Quiet if self.lived() >= deadline => {
                    let silence = self.lived().saturating_sub(heard);
                    return Err(self.too_late(silence));
                }
                Event::Quiet => {}
            }
        }
        Err(self.fail(BootTrouble::Interrupted))
    }

    /// The time since the start, without what the machine waited for a CPU of the host.
    fn lived(&mut self) -> Duration {
        self.machine.lived(self.start)
    }

    /// The time is over: the kernel has been silent, or it talked to the end.
    fn too_late(&mut self, silence: Duration) -> BootFailure {
        // A user's limit may be over before the silence is as long as it usually must be.
        if silence >= self.spec.silence_limit / 2 {
            return self.silent(silence);
        }
        self.fail(BootTrouble::Late(self.start.elapsed().as_secs()))
    }

    fn silent(&mut self, silence: Duration) -> BootFailure {
        let (lines, seconds) = (self.machine.console.lines(), silence.as_secs());
        let trouble = match lines {
            0 => BootTrouble::NoConsole { seconds, option: self.spec.engine.console_option() },
            _ => BootTrouble::Hang { lines, seconds },
        };
        // The console as it was before the kernel is provoked.
        let failure = self.fail(trouble);
        let facts = Box::new(self.machine.examine());
        BootFailure { facts, dump: self.machine.dumped(), ..failure }
    }

    fn fail(&self, trouble: BootTrouble) -> BootFailure {
        self.machine.failure(trouble)
    }
}
