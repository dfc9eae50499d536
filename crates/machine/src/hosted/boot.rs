//! From the start of QEMU to the agent's hello.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use kernel::Kernel;
use protocol::{Decoder, Encoder, FromAgent, ToAgent};
use rustix::fs::MemfdFlags;

use super::args::{self, Descriptors};
use super::process::Process;
use super::{Qemu, Raw, SOCKETS, qmp, readers};
use crate::console::Console;
use crate::error::{BootFailure, BootTrouble, Error};
use crate::host::{self, QemuProgram};
use crate::spec::Spec;
use crate::{Death, Event, Machine};

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
    program: std::path::PathBuf,
}

/// A machine whose agent has said hello.
#[derive(Debug)]
pub struct Booted {
    /// The machine.
    pub machine: Qemu,
    /// `uname -r`.
    pub release: String,
    /// From the start of QEMU to the hello.
    pub took: Duration,
}

/// A machine on its way to the agent's hello.
#[derive(Debug)]
pub struct Starting<'a> {
    machine: Qemu,
    command_line: String,
    spec: &'a Spec,
    start: Instant,
    key: u64,
}

impl<'a> Built<'a> {
    /// Makes the initramfs and looks at the host.
    ///
    /// # Errors
    ///
    /// When QEMU is missing, the memory does not suffice, or something cannot be read.
    pub fn new(spec: &'a Spec, kernel: &'a Kernel) -> Result<Self, Error> {
        let initramfs = spec.payload.initramfs()?;
        let needed = Spec::least_memory_mib(initramfs.len());
        if spec.memory_mib < needed {
            return Err(Error::SmallMemory { asked: spec.memory_mib, needed });
        }
        if let Some(available) = host::available_memory_mib().filter(|&available| available < spec.memory_mib)
        {
            return Err(Error::NoMemory { asked: spec.memory_mib, available });
        }
        Ok(Self { spec, kernel, initramfs, program: QemuProgram::locate()? })
    }

    /// Size of the initramfs in bytes.
    #[must_use]
    pub fn initramfs_size(&self) -> usize {
        self.initramfs.len()
    }

    /// The command line that a start would use, with the numbers of its descriptors left open.
    #[must_use]
    pub fn command_line(&self) -> String {
        let disk = (self.spec.disk_mib > 0).then_some(7);
        let descriptors = Descriptors { initramfs: 3, console: 4, control: 5, qmp: 6, disk };
        let arguments = args::arguments(self.spec, &self.kernel.image, &descriptors);
        quote(&self.program.display().to_string(), &arguments)
    }

    /// Starts the machine.
    ///
    /// # Errors
    ///
    /// When the host cannot start it.
    pub fn start(&self) -> Result<Starting<'a>, Error> {
        let start = Instant::now();
        let (console, its_console) = socket_pair()?;
        let (control, its_control) = socket_pair()?;
        let (monitor, its_monitor) = socket_pair()?;
        let initramfs = in_memory("initramfs", &self.initramfs)?;
        let disk = (self.spec.disk_mib > 0).then(|| disk(self.spec.disk_mib)).transpose()?;
        let descriptors = Descriptors {
            initramfs: initramfs.as_raw_fd(),
            console: its_console.as_raw_fd(),
            control: its_control.as_raw_fd(),
            qmp: its_monitor.as_raw_fd(),
            disk: disk.as_ref().map(AsRawFd::as_raw_fd),
        };
        let arguments = args::arguments(self.spec, &self.kernel.image, &descriptors);
        let command_line = quote(&self.program.display().to_string(), &arguments);
        let mut command = Command::new(&self.program);
        command.args(&arguments);
        let sockets = [its_console, its_control, its_monitor].map(OwnedFd::from);
        let inherited = sockets.into_iter().chain([initramfs]).chain(disk).collect();
        let (sender, events) = sync_channel(QUEUE);
        let process = Process::start(command, inherited, sender.clone())?;
        read_all([&console, &control, &monitor], &sender)?;
        // A QEMU that has ended already says why in its own words.
        let _ = qmp::negotiate(&monitor);
        let machine = Qemu {
            process,
            screen: None,
            events,
            control,
            console_input: console,
            monitor,
            encoder: Encoder::default(),
            decoder: Decoder::default(),
            console: Console::default(),
            queue: std::collections::VecDeque::new(),
            answers: std::collections::VecDeque::new(),
            open: SOCKETS,
            shutdown_reason: None,
            exit: None,
        };
        Ok(Starting { machine, command_line, spec: self.spec, start, key: random()? })
    }
}

impl Starting<'_> {
    /// QEMU's command line, as a shell reads it.
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
                        return Err(fail(&self.machine, BootTrouble::NoControlPort));
                    }
                }
                Event::Agent(FromAgent::Hello { protocol, .. }) if protocol != protocol::VERSION => {
                    return Err(fail(&self.machine, BootTrouble::Protocol(protocol)));
                }
                Event::Agent(FromAgent::Hello { release, .. }) => return Ok(self.greet(release)),
                // What comes before the hello is the driver's or the firmware's.
                Event::Agent(_) | Event::Stranger(_) => {}
                Event::Ended(death) => return Err(fail(&self.machine, trouble(death))),
                Event::Quiet if Instant::now() >= deadline => {
                    return Err(self.too_late(heard));
                }
                Event::Quiet => {}
            }
        }
        Err(fail(&self.machine, BootTrouble::Interrupted))
    }

    /// The time is over: the kernel has been silent, or it talked to the end.
    fn too_late(&mut self, heard: Instant) -> BootFailure {
        // A user's limit may be over before the silence is as long as it usually must be.
        if heard.elapsed() >= self.spec.silence_limit / 2 {
            return silent(&mut self.machine, heard.elapsed());
        }
        fail(&self.machine, BootTrouble::Late(self.start.elapsed().as_secs()))
    }

    fn greet(mut self, release: String) -> Booted {
        self.machine.tell(&ToAgent::Start { key: self.key });
        Booted { machine: self.machine, release, took: self.start.elapsed() }
    }
}

fn read_all([console, control, monitor]: [&UnixStream; 3], events: &SyncSender<Raw>) -> Result<(), Error> {
    let copy = |socket: &UnixStream| socket.try_clone().map_err(|source| Error::host("socket", source));
    readers::read_port(copy(console)?, events.clone(), Raw::Console);
    readers::read_port(copy(control)?, events.clone(), Raw::Control);
    readers::read_monitor(copy(monitor)?, events.clone());
    Ok(())
}

fn socket_pair() -> Result<(UnixStream, UnixStream), Error> {
    UnixStream::pair().map_err(|source| Error::host("socketpair", source))
}

/// A file without a name that holds `content`.
fn in_memory(name: &str, content: &[u8]) -> Result<OwnedFd, Error> {
    let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)
        .map_err(|source| Error::host("memfd_create", source))?;
    let mut file = std::fs::File::from(file);
    file.write_all(content).map_err(|source| Error::host(name, source))?;
    Ok(file.into())
}

/// An empty disk: a sparse file without a name, so that nothing is left of it.
fn disk(mib: u64) -> Result<OwnedFd, Error> {
    let file = in_memory("disk", &[])?;
    rustix::fs::ftruncate(&file, mib << 20).map_err(|source| Error::host("disk", source))?;
    Ok(file)
}

/// A command line as a shell reads it.
fn quote(program: &str, arguments: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=+,./:@%".contains(&b))
    };
    let words = std::iter::once(program).chain(arguments.iter().map(String::as_str));
    let quoted =
        words.map(
            |word| if plain(word) { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) },
        );
    quoted.collect::<Vec<_>>().join(" ")
}

fn silent(machine: &mut Qemu, silence: Duration) -> BootFailure {
    let lines = machine.console.lines();
    let seconds = silence.as_secs();
    let facts = machine.examine();
    let trouble =
        if lines == 0 { BootTrouble::NoConsole(seconds) } else { BootTrouble::Hang { lines, seconds } };
    BootFailure { facts, ..fail(machine, trouble) }
}

fn fail(machine: &Qemu, trouble: BootTrouble) -> BootFailure {
    BootFailure { trouble, console: machine.console.tail(CONSOLE_LINES), facts: Vec::new() }
}

fn trouble(death: Death) -> BootTrouble {
    match death {
        Death::Panic(title) => BootTrouble::Panic(title),
        Death::AgentDied(title) => BootTrouble::AgentDied(title),
        Death::Reset => BootTrouble::Reset,
        Death::Restarted => BootTrouble::Panic("the kernel restarted before user space".to_string()),
        // The agent gives up when it finds no port. A kernel with one serial port drops its console for the
        // second one, so that the agent's own words about it may be lost.
        Death::PoweredOff => BootTrouble::NoControlPort,
        Death::Broken(text) => BootTrouble::Qemu(text.trim_start_matches("QEMU: ").to_string()),
    }
}

/// A number that nobody in the guest can guess.
fn random() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|source| Error::host("getrandom", source))?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let line = quote("qemu", &["-append".into(), "a b".into(), String::new(), "it's".into()]);
        assert_eq!(line, r"qemu -append 'a b' '' 'it'\''s'");
    }
}
