//! What QEMU says and is asked on its monitor, beside console and control port.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::qmp::{self, LINE_MAX, Said};
use crate::error::Error;
use crate::hosted::Raw;
use crate::hosted::launch::socket_pair;

/// Things said that may wait; a machine says a handful in its life.
const QUEUE: usize = 16;

/// How long an answer may take, and the end of a QEMU that has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// Our side of the monitor.
#[derive(Debug)]
pub(super) struct Monitor {
    socket: UnixStream,
    said: Receiver<Said>,
    shutdown_reason: Option<String>,
}

impl Monitor {
    /// A monitor and QEMU's side of it; `events` hears when the machine is over.
    pub(super) fn new(events: SyncSender<Raw>) -> Result<(Self, OwnedFd), Error> {
        let (socket, its) = socket_pair()?;
        let copy = socket.try_clone().map_err(|source| Error::host("socket", source))?;
        let (sender, said) = sync_channel(QUEUE);
        std::thread::spawn(move || read(copy, &sender, &events));
        // A QEMU that has ended already says why in its own words.
        let _ = qmp::negotiate(&socket);
        Ok((Self { socket, said, shutdown_reason: None }, its.into()))
    }

    /// What the human monitor prints on `command`.
    pub(super) fn ask(&mut self, command: &str) -> Option<String> {
        while let Ok(said) = self.said.try_recv() {
            self.take(said);
        }
        qmp::ask_human_monitor(&self.socket, command).ok()?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.take(self.receive(deadline).ok()?) {
                return answer.ok();
            }
        }
    }

    /// Why the guest was shut down, if it was, once QEMU has ended.
    pub(super) fn shutdown_reason(&mut self) -> Option<&str> {
        let deadline = Instant::now() + PATIENCE;
        while let Ok(said) = self.receive(deadline) {
            self.take(said);
        }
        self.shutdown_reason.as_deref()
    }

    fn receive(&self, deadline: Instant) -> Result<Said, RecvTimeoutError> {
        self.said.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// Remembers what was said, or gives it back if it is an answer.
    fn take(&mut self, said: Said) -> Option<Result<String, String>> {
        match said {
            Said::Answer(answer) => return Some(answer),
            Said::Shutdown(reason) => self.shutdown_reason = Some(reason),
            Said::Paused => {
                self.shutdown_reason.get_or_insert_with(|| "it paused the guest by itself".to_string());
            }
        }
        None
    }
}

/// Reads up to the end of QEMU, or of the monitor.
fn read(mut socket: UnixStream, said: &SyncSender<Said>, events: &SyncSender<Raw>) {
    let mut buffer = [0; 16 * 1024];
    let mut line = Vec::new();
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        for &byte in &buffer[..count] {
            if byte != b'\n' {
                line.push(byte);
                line.truncate(LINE_MAX);
                continue;
            }
            let Some(new) = qmp::read(&std::mem::take(&mut line)) else { continue };
            // A guest that QEMU paused will do nothing more.
            let over = new == Said::Paused;
            if said.send(new).is_err() || (over && events.send(Raw::Over).is_err()) {
                return;
            }
        }
    }
}
