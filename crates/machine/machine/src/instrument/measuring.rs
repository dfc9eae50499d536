//! A machine at work.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use protocol::FromAgent;
use protocol::measure::Answer;

use super::{Exchange, Files, Plugin, Watch};
use crate::error::Error;
use crate::vmm::Vmm;
use crate::vmm::launch::{in_memory, inherited};
use crate::{Death, Event, Machine, PLUGIN, RecordingMemory};

/// Between two looks for answers, which nothing announces.
const INTERVAL: Duration = Duration::from_millis(20);

/// Most that the plugin may write, in bytes.
const OUTPUT_MAX: u64 = 256 << 20;

/// A machine that measures. It is gone when it is dropped.
#[derive(Debug)]
pub struct Measuring {
    machine: Vmm,
    channel: Channel,
    is_over: bool,
}

/// What a measuring machine does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The instrument said something.
    Answer(Answer),
    /// A line on the console.
    Console(String),
    /// Something is wrong with what was said.
    Trouble(String),
    /// The machine stopped itself: there is nothing more to come.
    Stopped,
    /// The machine is no more.
    Ended(Death),
    /// Nothing happened until the deadline.
    Quiet,
}

/// The host's side of the shared memory through which a measuring machine gets its order and answers.
#[derive(Debug)]
pub(crate) struct Channel {
    exchange: Exchange,
    /// The plugin's output, if there is a plugin.
    output: Option<OwnedFd>,
}

impl Channel {
    /// A channel, and the files of it that QEMU opens.
    pub(crate) fn new(exchange: Exchange, watch: Watch<'_>) -> Result<(Self, Files<OwnedFd>), Error> {
        let copy = |file: &OwnedFd| file.try_clone().map_err(|source| Error::host("plugin", source));
        let events = match watch {
            Watch::Events(entries) => {
                let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
                Some(in_memory("plugin-events", &bytes)?)
            }
            _ => None,
        };
        let output = (watch != Watch::No).then(|| in_memory("plugin-output", &[])).transpose()?;
        let plugin = match &output {
            Some(output) => Some(Plugin {
                code: in_memory("plugin", PLUGIN)?,
                output: copy(output)?,
                events,
                stacks: watch == Watch::Stacks,
            }),
            None => None,
        };
        let files = Files { exchange: exchange.descriptor()?, plugin };
        Ok((Self { exchange, output }, files))
    }
}

impl Measuring {
    pub(crate) fn new(machine: Vmm, channel: Channel) -> Self {
        Self { machine, channel, is_over: false }
    }

    /// What happens next, or [`Step::Quiet`] if nothing does until `deadline`. After [`Step::Stopped`] and
    /// [`Step::Ended`] there is nothing more.
    pub fn next(&mut self, deadline: Instant) -> Step {
        loop {
            if let Some(answer) = self.channel.exchange.next() {
                return answer.map_or_else(Step::Trouble, Step::Answer);
            }
            if self.is_over {
                return Step::Stopped;
            }
            let soon = (Instant::now() + INTERVAL).min(deadline);
            match self.machine.next(soon) {
                Event::Console(line) => return Step::Console(line),
                Event::Agent(FromAgent::Trouble { text }) | Event::Stranger(text) => {
                    return Step::Trouble(text);
                }
                // What it has answered before comes first.
                Event::Stopped => self.is_over = true,
                Event::Ended(death) => return Step::Ended(death),
                Event::Quiet if Instant::now() >= deadline => return Step::Quiet,
                Event::Agent(_) | Event::Hazard(_) | Event::Quiet => {}
            }
        }
    }

    /// The machine that does it.
    pub fn machine(&mut self) -> &mut Vmm {
        &mut self.machine
    }

    /// The text of the kernel's symbols, if it was asked for.
    #[must_use]
    pub fn symbols(&self) -> String {
        self.channel.exchange.symbols()
    }

    /// The memory with what the kernel recorded, if that was asked for.
    ///
    /// # Errors
    ///
    /// When the host has no descriptor for it.
    pub fn recorded(&self) -> Result<RecordingMemory, Error> {
        self.channel.exchange.recording()
    }

    /// What the plugin has written; nothing without one.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn plugin_output(&self) -> Result<Vec<u8>, Error> {
        let Some(output) = &self.channel.output else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        // Another opening, since QEMU's has its place at the end.
        let read = File::open(inherited(output.as_raw_fd()))
            .and_then(|file| file.take(OUTPUT_MAX).read_to_end(&mut bytes));
        read.map_err(|source| Error::host("what the plugin wrote", source))?;
        Ok(bytes)
    }
}
