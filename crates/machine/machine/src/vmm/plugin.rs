//! The plugin that looks for hazards, as kiln talks to it.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ::hazard::Loop;
use protocol::hazard::{Hot, Message, Messages, Site, WAITS, WORKS};

/// How long QEMU may take to begin to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Between two looks whether it has.
const STOP_INTERVAL: Duration = Duration::from_micros(200);

/// `futex`, by which QEMU's main thread waits for the CPUs to stop.
const FUTEX: &str = "202";

/// The plugin of a machine.
#[derive(Debug)]
pub(crate) struct Plugin {
    channel: UnixStream,
    messages: Messages,
    /// What it has counted, once it has said so.
    pub(super) sites: Option<Vec<Site>>,
}

impl Plugin {
    pub(crate) fn new(channel: UnixStream) -> Self {
        Self { channel, messages: Messages::default(), sites: None }
    }

    /// Tells it something; a plugin that is gone shows as the machine's end.
    pub(crate) fn tell(&self, what: u8) {
        let _ = (&self.channel).write_all(&[what]);
    }

    /// The same as soon as QEMU has begun to stop, so that no CPU does anything more.
    pub(crate) fn tell_when_stopping(&self, what: u8, process: u32) {
        let begin = Instant::now();
        while !is_stopping(process) && begin.elapsed() < STOP_TIMEOUT {
            std::thread::sleep(STOP_INTERVAL);
        }
        self.tell(what);
    }

    /// More has come from it.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.messages.feed(bytes);
    }

    /// Lets CPUs go on that stand still in it, without a look at the machine.
    pub(crate) fn answer(&mut self) {
        while let Some(hot) = self.next_hot() {
            self.tell(if waits(&hot).is_some() { WAITS } else { WORKS });
        }
    }

    /// The next CPU that stands still in it. What it has counted is kept, and what it cannot have said is the last word.
    pub(crate) fn next_hot(&mut self) -> Option<Hot> {
        loop {
            match self.messages.take().ok().flatten()? {
                Message::Hot(hot) => return Some(hot),
                Message::Sites(sites) => self.sites = Some(sites),
            }
        }
    }
}

/// The loop of a CPU, if it waits.
pub(crate) fn waits(hot: &Hot) -> Option<Loop> {
    Loop::decode(&hot.blocks).filter(Loop::waits)
}

/// Whether the main thread of QEMU waits for its CPUs: proc_pid_syscall(5).
fn is_stopping(process: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{process}/task/{process}/syscall"));
    call.is_ok_and(|call| call.split(' ').next() == Some(FUTEX))
}
