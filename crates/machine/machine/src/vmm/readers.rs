//! Threads that turn a machine's sockets into one queue.
//!
//! The queue is bounded: when nobody takes from it the readers stop, then the sockets fill, then the
//! guest's serial port stops. A flood costs no memory.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;

use super::Raw;

/// Reads what comes on the console or the control port.
pub(super) fn read_port(mut socket: UnixStream, events: SyncSender<Raw>, wrap: fn(Vec<u8>) -> Raw) {
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = socket.read(&mut buffer) {
            if events.send(wrap(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
        // A machine that was dropped needs no event.
        let _ = events.send(Raw::Closed);
    });
}
