//! QEMU's monitor protocol, as far as kiln needs it: docs/interop/qmp-spec of QEMU.
//!
//! One JSON object a line in both directions. Commands are answered in order; events come between.

use std::io::{IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde_json::{Value, json};

/// Longest line that is read, in bytes.
pub(super) const LINE_MAX: usize = 1 << 20;

/// What a command gives, or QEMU's complaint.
pub(super) type Answer = Result<Value, String>;

/// What QEMU said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Message {
    /// The guest is being reset or shut down, and who asked for it.
    Shutdown(String),
    /// QEMU has paused the guest, which kiln never asks for: an internal error, or no space left.
    Paused,
    /// The guest asks to be stopped, by the device through which others tell that they panicked.
    StopsItself,
    /// The guest runs from now on.
    Resumed,
    /// The answer to the command of this number.
    Answer(u64, Answer),
}

/// Reads one line; nothing for greetings and for events that do not matter.
pub(super) fn read(line: &[u8]) -> Option<Message> {
    let value: Value = serde_json::from_slice(line).ok()?;
    if value["event"] == "SHUTDOWN" {
        return Some(Message::Shutdown(value["data"]["reason"].as_str().unwrap_or_default().to_string()));
    }
    if value["event"] == "GUEST_PANICKED" {
        return Some(Message::StopsItself);
    }
    if value["event"] == "STOP" {
        return Some(Message::Paused);
    }
    if value["event"] == "RESUME" {
        return Some(Message::Resumed);
    }
    let number = value["id"].as_u64()?;
    if let Some(error) = value.get("error") {
        return Some(Message::Answer(number, Err(error["desc"].as_str().unwrap_or("refused").to_string())));
    }
    Some(Message::Answer(number, Ok(value.get("return")?.clone())))
}

/// Leaves the state in which only this command is understood.
pub(super) fn negotiate(socket: &UnixStream) -> std::io::Result<()> {
    send(socket, &json!({"execute": "qmp_capabilities"}))
}

/// Sends the command of this number.
pub(super) fn execute(
    socket: &UnixStream,
    number: u64,
    command: &str,
    arguments: &Value,
) -> std::io::Result<()> {
    send(socket, &json!({"execute": command, "arguments": arguments, "id": number}))
}

/// Sends a command with a descriptor that it needs.
pub(super) fn execute_with(
    socket: &UnixStream,
    number: u64,
    (command, arguments): (&str, &Value),
    descriptor: BorrowedFd<'_>,
) -> std::io::Result<()> {
    let line = line(&json!({"execute": command, "arguments": arguments, "id": number}));
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor];
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let sent = sendmsg(socket, &[IoSlice::new(&line)], &mut ancillary, SendFlags::NOSIGNAL)?;
    // The descriptor went with the first byte.
    let mut socket = socket;
    socket.write_all(&line[sent..])
}

fn send(mut socket: &UnixStream, message: &Value) -> std::io::Result<()> {
    socket.write_all(&line(message))
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_matters_is_understood() {
        let event = br#"{"timestamp": {"seconds": 1, "microseconds": 2}, "event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}}"#;
        assert_eq!(read(event), Some(Message::Shutdown("guest-reset".into())));
        assert_eq!(read(br#"{"event": "STOP"}"#), Some(Message::Paused));
        assert_eq!(
            read(br#"{"event": "GUEST_PANICKED", "data": {"action": "pause"}}"#),
            Some(Message::StopsItself)
        );
        assert_eq!(read(br#"{"event": "RESUME"}"#), Some(Message::Resumed));
        assert_eq!(read(br#"{"return": "RIP=0", "id": 7}"#), Some(Message::Answer(7, Ok("RIP=0".into()))));
        assert_eq!(read(br#"{"return": {}}"#), None, "the answer to the negotiation");
        assert_eq!(
            read(br#"{"error": {"class": "GenericError", "desc": "no"}, "id": 8}"#),
            Some(Message::Answer(8, Err("no".into())))
        );
        assert_eq!(read(br#"{"QMP": {"version": {}}}"#), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }
    }
}
