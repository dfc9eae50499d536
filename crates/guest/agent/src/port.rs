//! The control port: the second serial port.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;

use protocol::{Decoded, Decoder, Encoder, FromAgent, ToAgent};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::text;

/// Every PC-like machine has it where kiln put it.
const DEVICE: &str = "/dev/ttyS1";

#[derive(Debug)]
pub(crate) struct Port {
    file: File,
    /// Messages go as text, which nobody answers.
    as_text: bool,
    encoder: Encoder,
    decoder: Decoder,
}

impl Port {
    pub(crate) fn open() -> std::io::Result<Self> {
        let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = File::options().read(true).write(true).custom_flags(flags).open(DEVICE)?;
        let port = Self { file, as_text: false, encoder: Encoder::default(), decoder: Decoder::default() };
        port.make_raw()?;
        Ok(port)
    }

    /// Every byte goes as it is, and goes at once; a case may have left the line in another state.
    pub(crate) fn make_raw(&self) -> std::io::Result<()> {
        let mut mode = tcgetattr(&self.file)?;
        mode.make_raw();
        // QEMU holds the last bytes of a message back for the time of four characters.
        mode.set_speed(rustix::termios::speed::B115200)?;
        tcsetattr(&self.file, OptionalActions::Now, &mode)?;
        Ok(rustix::termios::tcflow(&self.file, rustix::termios::Action::OOn)?)
    }

    /// What is sent carries the key from now on.
    pub(crate) fn set_key(&mut self, key: u64) {
        self.encoder.set_key(key);
    }

    /// What is sent is text from now on.
    pub(crate) fn send_text(&mut self) {
        self.as_text = true;
    }

    pub(crate) fn sends_text(&self) -> bool {
        self.as_text
    }

    /// Waits until all that was sent has left the machine.
    pub(crate) fn drain(&self) {
        // There is nothing else that could be tried.
        let _ = rustix::termios::tcdrain(&self.file);
    }

    /// Writes the whole message, waiting for the line as long as it takes.
    pub(crate) fn send(&mut self, message: &FromAgent) {
        let bytes = match self.as_text {
            true => Ok(text::lines(message).into_bytes()),
            false => self.encoder.encode(message),
        };
        let Ok(bytes) = bytes else { return };
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => self.wait_for_room(),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // A port that cannot be written has nobody who could be told.
                Err(_) => return,
            }
        }
    }

    fn wait_for_room(&self) {
        let mut wait = [rustix::event::PollFd::new(&self.file, rustix::event::PollFlags::OUT)];
        // An interrupted wait is tried again by the caller.
        let _ = rustix::event::poll(&mut wait, None);
    }

    /// The messages that have arrived; what is no message is dropped, for only the machine writes here.
    pub(crate) fn receive(&mut self) -> Vec<ToAgent> {
        let mut buffer = [0; 4096];
        let Ok(count) = self.file.read(&mut buffer) else { return Vec::new() };
        let found = self.decoder.feed(&buffer[..count]);
        found.into_iter().filter_map(message).collect()
    }
}

fn message(found: Decoded<ToAgent>) -> Option<ToAgent> {
    match found {
        Decoded::Message(message) => Some(message),
        Decoded::Garbage(_) | Decoded::Forged(_) => None,
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
