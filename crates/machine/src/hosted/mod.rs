//! A machine in QEMU.
//!
//! * [`args`]: its command line
//! * [`process`]: the process
//! * [`qmp`], [`readers`]: what comes out of it
//! * [`boot`]: from its start to the agent's hello

mod args;
mod boot;
mod process;
mod qmp;
mod readers;

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use protocol::{Decoded, Decoder, Encoder, FromAgent, ToAgent};

use crate::console::Console;
use crate::{Death, Event, Machine};
use process::Process;
use qmp::Said;

pub use boot::{Booted, Built, Starting};

/// Sockets whose end is waited for: console, control port, monitor.
const SOCKETS: u32 = 3;

/// How long a machine may take to power off before it is killed.
const POWER_OFF_PATIENCE: Duration = Duration::from_secs(10);

/// How long a panic may go on printing.
const PANIC_PATIENCE: Duration = Duration::from_secs(3);

/// Something that came out of QEMU.
#[derive(Debug)]
enum Raw {
    Console(Vec<u8>),
    Control(Vec<u8>),
    Monitor(Said),
    /// One of the sockets has closed.
    Closed,
    /// The process has ended, in this way.
    Exited(String),
}

/// A machine in QEMU.
pub struct Qemu {
    process: Process,
    screen: Option<Box<dyn Write + Send>>,
    events: Receiver<Raw>,
    control: UnixStream,
    console_input: UnixStream,
    monitor: UnixStream,
    encoder: Encoder,
    decoder: Decoder,
    console: Console,
    queue: VecDeque<Event>,
    answers: VecDeque<Result<String, String>>,
    open: u32,
    shutdown_reason: Option<String>,
    exit: Option<String>,
}

impl std::fmt::Debug for Qemu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Qemu")
            .field("console", &self.console)
            .field("exit", &self.exit)
            .finish_non_exhaustive()
    }
}

impl Qemu {
    /// From now on the console's bytes also go to `screen`, as they are.
    pub fn show_console(&mut self, screen: Box<dyn Write + Send>) {
        self.screen = Some(screen);
    }

    /// Where to write what a person types on the console.
    ///
    /// # Errors
    ///
    /// When the host has no descriptor left.
    pub fn console_input(&self) -> std::io::Result<UnixStream> {
        self.console_input.try_clone()
    }

    /// The last lines of the console, at most `count`.
    #[must_use]
    pub fn console_tail(&self, count: usize) -> Vec<String> {
        self.console.tail(count)
    }

    /// Takes in one thing that came out of QEMU.
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
                let found = self.decoder.feed(&bytes);
                self.queue.extend(found.into_iter().map(event));
            }
            Raw::Monitor(Said::Shutdown(reason)) => self.shutdown_reason = Some(reason),
            Raw::Monitor(Said::Paused) => {
                self.shutdown_reason.get_or_insert_with(|| "it paused the guest by itself".to_string());
                self.process.kill();
            }
            Raw::Monitor(Said::Answer(answer)) => self.answers.push_back(answer),
            Raw::Closed => self.open = self.open.saturating_sub(1),
            Raw::Exited(how) => self.exit = Some(how),
        }
        if self.has_ended() {
            self.queue.extend(self.console.finish().map(Event::Console));
            let death = self.death();
            self.queue.push_back(Event::Ended(death));
        }
    }

    /// Nothing more can come: the process is gone and all that it said has been read.
    fn has_ended(&self) -> bool {
        self.exit.is_some() && self.open == 0
    }

    fn death(&self) -> Death {
        let exit = self.exit.clone().unwrap_or_default();
        match (self.console.last_words(), self.shutdown_reason.as_deref()) {
            (Some(death), Some(_)) => death,
            (Some(death @ (Death::Panic(_) | Death::AgentDied(_))), None) => death,
            (None, Some("guest-reset")) => Death::Reset,
            (None, Some("guest-shutdown")) => Death::PoweredOff,
            (None, Some(reason)) => Death::Broken(format!("QEMU shut down: {reason}")),
            (_, None) => Death::Broken(format!("QEMU: {exit}")),
        }
    }

    /// Waits until `deadline` for something and takes it in; false when nothing came.
    fn wait(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(raw) => {
                self.take(raw);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            // Every sender has gone, and each said so before: only a repeated call comes here.
            Err(RecvTimeoutError::Disconnected) => {
                let death = self.death();
                self.queue.push_back(Event::Ended(death));
                true
            }
        }
    }

    /// A halted or panicked guest says nothing more, but QEMU would go on for ever.
    fn end_if_over(&mut self) {
        if self.console.is_over() && self.exit.is_none() {
            let deadline = Instant::now() + PANIC_PATIENCE;
            while self.exit.is_none() && self.wait(deadline) {}
            self.shutdown_reason.get_or_insert_with(|| "guest-halted".to_string());
            self.process.kill();
        }
    }

    /// What the human monitor prints on `command`.
    fn ask(&mut self, command: &str) -> Option<String> {
        self.answers.clear();
        qmp::ask_human_monitor(&self.monitor, command).ok()?;
        let deadline = Instant::now() + Duration::from_secs(2);
        while self.answers.is_empty() && !self.has_ended() && self.wait(deadline) {}
        self.answers.pop_front()?.ok()
    }
}

fn event(found: Decoded<FromAgent>) -> Event {
    match found {
        Decoded::Message(message) => Event::Agent(message),
        Decoded::Garbage(count) => Event::Stranger(format!("{count} bytes that are no message")),
        Decoded::Forged(text) => Event::Stranger(text),
    }
}

impl Machine for Qemu {
    fn tell(&mut self, message: &ToAgent) {
        if let Ok(frame) = self.encoder.encode(message) {
            // A closed port shows as the machine's end.
            let _ = self.control.write_all(&frame);
        }
        // The key goes over unkeyed; everything after it is keyed from the agent's side.
        if let ToAgent::Start { key } = message {
            self.decoder.set_key(*key);
        }
    }

    fn next(&mut self, deadline: Instant) -> Event {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return event;
            }
            self.end_if_over();
            if self.queue.is_empty() && !self.wait(deadline) {
                return Event::Quiet;
            }
        }
    }

    fn examine(&mut self) -> Vec<String> {
        let registers = self.ask("info registers -a").unwrap_or_default();
        let wanted =
            |line: &&str| ["CPU#", "IP=", "SP=", "CR2=", "CR3="].iter().any(|name| line.contains(name));
        registers.lines().filter(wanted).map(|line| crate::console::printable(line.as_bytes())).collect()
    }

    fn stop(mut self: Box<Self>) {
        self.tell(&ToAgent::PowerOff);
        let deadline = Instant::now() + POWER_OFF_PATIENCE;
        while self.exit.is_none() && self.wait(deadline) {
            self.queue.clear();
        }
    }
}
