//! A machine that is a program of this host, with a console and a control port.
//!
//! * [`built`]: all that it is made of; [`boot`]: from its start to the agent's hello
//! * [`cloning`]: what clones go on with
//! * [`process_tree`]: its processes; [`waiting`]: how long they waited for a CPU
//! * [`outside`]: what is done to it from outside
//! * [`pauses`]: how long kiln itself was stopped
//! * [`dump`]: its memory, kept; [`hazards`]: it is stopped where something waits for too long, a CPU, as a [`plugin`] finds, or a
//!   task, as [`lock_waits`] does
//! * [`holding`]: its CPUs stand still
//! * [`kexec`]: it goes over to another kernel
//! * [`launch`]: what a program is started with
//! * [`own`]: what makes a machine one of its own
//! * [`start`], [`process`]: the process
//! * [`readers`]: what comes out of it
//! * [`snapshot`]: a machine is put back to where it was
//! * [`traces`]: what its kernel prints when it is provoked
//!
//! What QEMU and UML do each in their own way is a [`driver`].

mod boot;
mod built;
mod cloning;
mod driver;
mod dump;
mod hazards;
mod holding;
mod kexec;
pub(crate) mod launch;
mod lock_waits;
mod outside;
pub(crate) mod own;
mod pauses;
mod plugin;
pub(crate) mod process;
pub(crate) mod process_tree;
mod readers;
mod recording;
mod screen;
mod snapshot;
pub(crate) mod start;
#[cfg(test)]
mod testing;
mod traces;
mod waiting;

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use console::Console;
use protocol::hazard::Site;
use protocol::{Decoded, Decoder, Encoder, FromAgent, ToAgent};

use crate::error::{BootFailure, BootTrouble};
use crate::{Death, Event, Facts, Machine};
use dump::Dumps;
use hazards::Hazards;
use pauses::PauseDetector;
use process::{Exit, Process};
use waiting::Waiting;

pub use boot::{Booted, Starting};
pub use built::{Built, Programs};
pub(crate) use cloning::{Frames, Frozen};
pub(crate) use driver::Driver;
pub use kexec::Successor;
pub use recording::RecordingMemory;
pub use snapshot::Snapshot;
pub(crate) use traces::Provocation;

/// Sockets whose end is waited for: console, control port.
const SOCKETS: u32 = 2;

/// How often the user's wish to stop is looked at.
pub(crate) const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// Lines of the console that are shown with a failure.
const CONSOLE_LINES: usize = 30;

/// How long a machine may take to power off before it is killed.
const POWER_OFF_PATIENCE: Duration = Duration::from_secs(10);

/// How long a panic may go on printing.
const PANIC_PATIENCE: Duration = Duration::from_secs(3);

/// Something that came out of the program.
#[derive(Debug)]
pub(crate) enum Raw {
    Console(Vec<u8>),
    Control(Vec<u8>),
    /// From the plugin that looks for hazards.
    Hazard(Vec<u8>),
    /// The machine will do nothing more, although the program still runs.
    Over,
    /// The machine has stopped itself.
    Stopped,
    /// It was stopped, perhaps where it writes to what is watched.
    Paused,
    /// One of the sockets has closed.
    Closed,
    /// The process has ended, in this way.
    Exited(Exit),
}

/// A machine that is a program of this host.
pub struct Vmm {
    process: Process,
    waiting: Waiting,
    pauses: PauseDetector,
    dumps: Option<Dumps>,
    hazards: Hazards,
    /// Through which files come.
    window: Option<File>,
    /// Its memory is a private copy of its template's.
    is_clone: bool,
    driver: Box<dyn Driver>,
    screen: Option<Box<dyn Write + Send>>,
    /// For those who read what comes out of the program.
    sender: SyncSender<Raw>,
    events: Receiver<Raw>,
    control: UnixStream,
    console_input: UnixStream,
    encoder: Encoder,
    decoder: Decoder,
    /// Hears the agent of the kernel that a kexec is to end, until another one says hello.
    predecessor: Option<Decoder>,
    console: Console,
    queue: VecDeque<Event>,
    open: u32,
    over: bool,
    exit: Option<Exit>,
}

impl std::fmt::Debug for Vmm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vmm")
            .field("driver", &self.driver)
            .field("console", &self.console)
            .field("exit", &self.exit)
            .finish_non_exhaustive()
    }
}

impl Vmm {
    fn new(
        process: Process,
        driver: Box<dyn Driver>,
        (sender, events): (SyncSender<Raw>, Receiver<Raw>),
        console: UnixStream,
        control: UnixStream,
    ) -> Self {
        Self {
            process,
            waiting: Waiting::new(),
            pauses: PauseDetector::new(Instant::now()),
            dumps: None,
            hazards: Hazards::default(),
            window: None,
            is_clone: false,
            driver,
            screen: None,
            sender,
            events,
            control,
            console_input: console,
            encoder: Encoder::default(),
            decoder: Decoder::default(),
            predecessor: None,
            console: Console::default(),
            queue: VecDeque::new(),
            open: SOCKETS,
            over: false,
            exit: None,
        }
    }

    /// The time since `start`, without what the machine waited for a CPU of the host.
    pub(crate) fn lived(&mut self, start: Instant) -> Duration {
        start.elapsed().saturating_sub(self.waited())
    }

    /// Gives events back, to be taken again before all others.
    pub(crate) fn put_back(&mut self, events: Vec<Event>) {
        events.into_iter().rev().for_each(|event| self.queue.push_front(event));
    }

    /// A boot that ended like this, with the last lines of the console.
    pub(crate) fn failure(&self, trouble: BootTrouble) -> BootFailure {
        let console = self.console.tail(CONSOLE_LINES);
        BootFailure { trouble, console, facts: Box::default(), dump: self.dumped() }
    }

    /// If the kernel crashes or hangs, the machine's memory goes into this folder.
    fn dump_into(self, folder: &Path, memory_mib: u64) -> Self {
        Self { dumps: Some(Dumps::new(folder.to_path_buf(), memory_mib)), ..self }
    }

    /// The last lines of the console, at most `count`.
    #[must_use]
    pub fn console_tail(&self, count: usize) -> Vec<String> {
        self.console.tail(count)
    }

    /// Takes in one thing that came out of the program.
    fn take(&mut self, raw: Raw) {
        match raw {
            Raw::Console(bytes) => {
                if let Some(screen) = &mut self.screen {
                    // A terminal that went away ends the program by its own signal.
                    let _ = screen.write_all(&bytes).and_then(|()| screen.flush());
                }
                let lines = self.console.feed(&bytes);
                self.queue.extend(lines.into_iter().map(Event::Console));
            }
            Raw::Control(bytes) => {
                let before =
                    self.predecessor.as_mut().map(|decoder| decoder.feed(&bytes)).unwrap_or_default();
                let is_message = |found: &Decoded<_>| matches!(found, Decoded::Message(_));
                self.queue.extend(before.into_iter().filter(is_message).map(event));
                let found = self.decoder.feed(&bytes);
                self.queue.extend(found.into_iter().map(event));
            }
            Raw::Hazard(bytes) => self.hear_plugin(&bytes),
            Raw::Over => self.end(),
            Raw::Stopped => self.queue.push_back(Event::Stopped),
            Raw::Paused => self.is_paused(),
            Raw::Closed => self.open = self.open.saturating_sub(1),
            Raw::Exited(how) => self.exit = Some(how),
        }
        if self.is_gone() {
            self.queue.extend(self.console.finish().map(Event::Console));
            self.announce_end();
        }
    }

    /// Whether nothing more can come: the process is gone and all that it wrote has been read.
    fn is_gone(&self) -> bool {
        self.exit.is_some() && self.open == 0
    }

    fn announce_end(&mut self) {
        let death = self.death();
        self.queue.push_back(Event::Ended(death));
    }

    fn death(&mut self) -> Death {
        match self.console.last_words() {
            // How a program ends that was killed here says nothing.
            Some(death) if self.over => death,
            _ => self.driver.death(&self.console, &self.exit.clone().unwrap_or_default()),
        }
    }

    /// Waits until `deadline` for something and takes it in; false when nothing came.
    fn wait(&mut self, deadline: Instant) -> bool {
        // It was announced before: only a repeated call comes here.
        if self.is_gone() {
            self.announce_end();
            return true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let raw = self.events.recv_timeout(left).ok();
        let has_come = raw.is_some();
        raw.into_iter().for_each(|raw| self.take(raw));
        has_come
    }

    /// The same unless the program has ended: then something comes for ever, which is its end.
    fn wait_while_running(&mut self, deadline: Instant) -> bool {
        self.exit.is_none() && self.wait(deadline)
    }

    /// A halted or panicked guest says nothing more, but its program may go on for ever.
    fn end_if_over(&mut self) {
        if self.console.is_over() && self.exit.is_none() {
            let deadline = Instant::now() + PANIC_PATIENCE;
            while self.wait_while_running(deadline) {}
            self.end();
        }
    }

    fn end(&mut self) {
        let ordered = matches!(self.console.last_words(), Some(Death::PoweredOff | Death::Restarted));
        if !self.over
            && !ordered
            && let Some(dumps) = &mut self.dumps
        {
            dumps.make(&mut *self.driver);
        }
        self.over = true;
        self.process.kill();
    }

    /// The state of a machine whose kernel has died and does nothing more.
    pub(crate) fn examine_dead(&mut self) -> Facts {
        let state = if self.exit.is_some() { Vec::new() } else { self.state() };
        self.end_with_dump();
        Facts { state, ..Facts::default() }
    }

    fn state(&mut self) -> Vec<String> {
        let state = self.driver.examine(&self.process);
        state.iter().map(|line| console::printable(line.as_bytes())).collect()
    }

    /// Ends a machine that hangs, if its memory is to be dumped.
    fn end_with_dump(&mut self) {
        if self.dumps.is_some() && self.exit.is_none() && !self.over && self.driver.provoke(Provocation::Stop)
        {
            let deadline = Instant::now() + PANIC_PATIENCE;
            while !self.over && self.wait_while_running(deadline) {}
        }
    }
}

fn event(found: Decoded<FromAgent>) -> Event {
    match found {
        Decoded::Message(message) => Event::Agent(message),
        Decoded::Garbage(count) => Event::Stranger(format!("{count} bytes that are not a message")),
        Decoded::Forged(text) => Event::Stranger(text),
    }
}

impl Machine for Vmm {
    fn send(&mut self, message: &ToAgent) {
        if let Ok(frame) = self.encoder.encode(message) {
            // A closed port shows as the machine's end.
            let _ = self.control.write_all(&frame);
        }
        // The key goes over unkeyed; everything after it is keyed from the agent's side.
        if let ToAgent::Start { key, .. } = message {
            self.decoder.set_key(*key);
            self.predecessor = None;
        }
    }

    fn next(&mut self, deadline: Instant) -> Event {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return event;
            }
            self.end_if_over();
            self.look_at_sleepers();
            let is_quiet = self.queue.is_empty() && !self.wait(self.next_look(deadline));
            if is_quiet && Instant::now() >= deadline {
                return Event::Quiet;
            }
        }
    }

    fn examine(&mut self) -> Facts {
        if self.exit.is_some() {
            return Facts::default();
        }
        let (state, tasks) = (self.state(), self.lines_of_tasks());
        let traces = self.traces();
        self.end_with_dump();
        Facts { state, tasks, traces }
    }

    fn name_dump(&mut self, name: &str) {
        if let Some(dumps) = &mut self.dumps {
            dumps.rename(name);
        }
    }

    fn dumped(&self) -> Option<String> {
        self.dumps.as_ref().and_then(Dumps::note)
    }

    fn begin_hazards(&mut self) -> Result<(), String> {
        self.begin_to_look()
    }

    fn end_hazards(&mut self) -> Vec<Site> {
        self.end_to_look()
    }

    fn recording(&self) -> Option<RecordingMemory> {
        recording::memory(self.process.id)
    }

    fn waited(&mut self) -> Duration {
        let paused = self.pauses.paused(Instant::now()).max(self.hazards.stopped);
        self.waiting.look(self.process.id) + paused
    }

    fn stop(mut self: Box<Self>) {
        self.dumps = None;
        self.send(&ToAgent::PowerOff);
        let deadline = Instant::now() + POWER_OFF_PATIENCE;
        while self.wait_while_running(deadline) {
            self.queue.clear();
        }
    }
}
