//! The stub of QEMU for debuggers: the GDB Remote Serial Protocol (appendix E of GDB's manual), as far as watchpoints need it.
//!
//! A byte that reaches the stub while its machine runs stops that, so nothing is sent but to one that is held, and packets are not
//! acknowledged: the next one does it.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::error::Error;
use crate::vmm::launch::socket_pair;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes that may wait to be read, of which a packet has far fewer.
const WAITING_MAX: usize = 64 << 10;

/// Our side of the stub.
#[derive(Debug)]
pub(super) struct Stub {
    socket: UnixStream,
    received: Vec<u8>,
}

/// The machine has stopped at a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// The CPU that has written.
    pub(super) cpu: usize,
    /// Where.
    pub(super) address: u64,
}

impl Stub {
    /// Both ends: ours, and what QEMU gets.
    pub(super) fn new() -> Result<(Self, UnixStream), Error> {
        let (socket, its) = socket_pair()?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(|source| Error::host("socket", source))?;
        Ok((Self { socket, received: Vec::new() }, its))
    }

    /// The answer to a packet. The machine must be held.
    pub(super) fn ask(&mut self, packet: &str) -> Result<String, String> {
        self.hear();
        self.socket.write_all(frame(packet).as_bytes()).map_err(|error| error.to_string())?;
        loop {
            match next(&mut self.received) {
                // That it has stopped was said before.
                Some(said) if said.starts_with('T') || said.starts_with('S') => {}
                Some(answer) => return Ok(answer),
                None => self.receive()?,
            }
        }
    }

    /// Has the stub say where the machine stops next. Since QEMU 8.1 it says that only to who has asked it to let the machine go on, which
    /// the monitor does here. It is asked for something that it cannot do: that is enough (`allow_stop_reply` of gdbstub/gdbstub.c).
    pub(super) fn listen(&mut self) -> Result<(), String> {
        self.ask("vCont;?").map(drop)
    }

    /// Where the machine has stopped, by the last that the stub has said.
    pub(super) fn hit(&mut self) -> Option<Hit> {
        self.hear();
        let said = std::iter::from_fn(|| next(&mut self.received));
        said.filter_map(|packet| hit(&packet)).last()
    }

    /// Takes what has come.
    fn hear(&mut self) {
        // A socket that is broken has nothing.
        let _ = self.socket.set_nonblocking(true);
        while self.receive().is_ok() {}
        let _ = self.socket.set_nonblocking(false);
    }

    fn receive(&mut self) -> Result<(), String> {
        let mut bytes = [0; 4096];
        let count = match self.socket.read(&mut bytes) {
            Ok(0) => return Err("QEMU ended".to_owned()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err("QEMU's stub does not answer".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        };
        if self.received.len() + count > WAITING_MAX {
            self.received.clear();
        }
        self.received.extend(&bytes[..count]);
        Ok(())
    }
}

/// A packet as it is sent: with the sum of its bytes.
fn frame(packet: &str) -> String {
    let sum = packet.bytes().fold(0_u8, u8::wrapping_add);
    format!("${packet}#{sum:02x}")
}

/// The next whole packet; what is before it is dropped.
fn next(received: &mut Vec<u8>) -> Option<String> {
    let begin = received.iter().position(|byte| *byte == b'$')?;
    let length = received[begin..].iter().position(|byte| *byte == b'#')?;
    let end = begin + length + "#00".len();
    let packet = received.get(begin..end)?;
    let packet = String::from_utf8_lossy(&packet[1..length]).into_owned();
    received.drain(..end);
    Some(packet)
}

/// What is in a packet such as `T05thread:01;watch:ffffffff832ee7e0;`; threads are numbered from 1.
fn hit(packet: &str) -> Option<Hit> {
    let fields = packet.strip_prefix('T')?.get(2..)?;
    let value = |name: &str| {
        let text = fields.split(';').find_map(|field| field.strip_prefix(name)?.strip_prefix(':'))?;
        u64::from_str_radix(text, 16).ok()
    };
    let cpu = usize::try_from(value("thread")?.checked_sub(1)?).ok()?;
    Some(Hit { cpu, address: value("watch")? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_are_framed_and_read() {
        assert_eq!(frame("?"), "$?#3f");
        let mut received = b"+$OK#9a+$T02thread:01;#04$T05".to_vec();
        assert_eq!(next(&mut received).as_deref(), Some("OK"));
        assert_eq!(next(&mut received).as_deref(), Some("T02thread:01;"));
        assert_eq!((next(&mut received), received.as_slice()), (None, &b"$T05"[..]));
    }

    #[test]
    fn a_watchpoint_names_a_cpu_and_an_address() {
        let found = Some(Hit { cpu: 1, address: 0xffff_ffff_832e_e7e0 });
        assert_eq!(hit("T05thread:02;watch:ffffffff832ee7e0;"), found);
        for other in ["T02thread:01;", "T05thread:00;watch:1;", "T05thread:01;awatch:1;", "OK", "T", ""] {
            assert_eq!(hit(other), None, "{other}");
        }
    }

    #[test]
    fn what_was_said_before_is_no_answer() {
        let (mut stub, mut its) = Stub::new().expect("sockets");
        its.write_all(b"$T02thread:01;#04").expect("written");
        let answering = std::thread::spawn(move || {
            let mut bytes = [0; 64];
            let count = its.read(&mut bytes).expect("a packet");
            its.write_all(b"+$T02thread:01;#04$OK#9a$T05thread:01;watch:10;#00").expect("written");
            (its, bytes[..count].to_vec())
        });
        assert_eq!(stub.ask("Z2,10,8").as_deref(), Ok("OK"));
        let (_its, asked) = answering.join().expect("no panic");
        assert_eq!(asked, b"$Z2,10,8#7d");
        assert_eq!(stub.hit(), Some(Hit { cpu: 0, address: 0x10 }));
        assert_eq!(stub.hit(), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut received = bytes;
            while let Some(packet) = next(&mut received) {
                let _ = hit(&packet);
            }
        }
    }
}
