//! QEMU's monitor protocol, as far as kiln needs it: docs/interop/qmp-spec of QEMU.
//!
//! One JSON object a line in both directions. Commands are answered in order; events come between.

use std::io::Write;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

/// Longest line that is read, in bytes.
pub(super) const LINE_MAX: usize = 1 << 20;

/// What QEMU said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// The guest is being reset or shut down, and who asked for it.
    Shutdown(String),
    /// QEMU has paused the guest, which kiln never asks for: an internal error, or no space left.
    Paused,
    /// The answer to a command: its value, or QEMU's complaint.
    Answer(Result<String, String>),
}

/// Reads one line; nothing for greetings and for events that do not matter.
pub(super) fn read(line: &[u8]) -> Option<Said> {
    let value: Value = serde_json::from_slice(line).ok()?;
    if value["event"] == "SHUTDOWN" {
        return Some(Said::Shutdown(value["data"]["reason"].as_str().unwrap_or_default().to_string()));
    }
    if value["event"] == "STOP" {
        return Some(Said::Paused);
    }
    if let Some(error) = value.get("error") {
        return Some(Said::Answer(Err(error["desc"].as_str().unwrap_or("refused").to_string())));
    }
    let answer = value.get("return")?;
    Some(Said::Answer(Ok(answer.as_str().unwrap_or_default().to_string())))
}

/// Leaves the state in which only this command is understood.
pub(super) fn negotiate(socket: &UnixStream) -> std::io::Result<()> {
    send(socket, &json!({"execute": "qmp_capabilities"}))
}

/// Asks for what the human monitor prints on `command`.
pub(super) fn ask_human_monitor(socket: &UnixStream, command: &str) -> std::io::Result<()> {
    send(socket, &json!({"execute": "human-monitor-command", "arguments": {"command-line": command}}))
}

fn send(mut socket: &UnixStream, message: &Value) -> std::io::Result<()> {
    socket.write_all(format!("{message}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_matters_is_understood() {
        let event = br#"{"timestamp": {"seconds": 1, "microseconds": 2}, "event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}}"#;
        assert_eq!(read(event), Some(Said::Shutdown("guest-reset".into())));
        assert_eq!(read(br#"{"event": "STOP"}"#), Some(Said::Paused));
        assert_eq!(read(br#"{"return": "RIP=0"}"#), Some(Said::Answer(Ok("RIP=0".into()))));
        assert_eq!(
            read(br#"{"error": {"class": "GenericError", "desc": "no"}}"#),
            Some(Said::Answer(Err("no".into())))
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
