//! UML's management console: a datagram socket on which the kernel answers from an interrupt, and so also
//! while a task of its own spins.
//!
//! A request is a magic number, a version, a length and as many bytes; an answer comes in parts, each
//! with an error, a word on whether there is more, a length and bytes: arch/um/drivers/mconsole.h.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use super::args::MCONSOLE;

const MAGIC: u32 = 0xcafe_babe;
const VERSION: u32 = 2;
const DATA_MAX: usize = 512;

/// How long a part of an answer may take.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Most parts of an answer.
const PARTS_MAX: usize = 64;

/// The task that runs in the kernel of process `id`, and the modules, if it still answers. The registers
/// in the same answer are not those of the task, and a request for its stack can kill the kernel.
pub(super) fn running_task(id: u32) -> Vec<String> {
    let text = ask(id, "sysrq p").unwrap_or_default();
    let wanted = |line: &&str| ["Pid:", "Modules linked in:"].iter().any(|start| line.starts_with(start));
    text.lines().filter(wanted).map(str::to_string).collect()
}

fn ask(id: u32, command: &str) -> Option<String> {
    // The socket is where only the process sees it.
    let socket = answering_socket(id)?;
    socket.send_to(&request(command), format!("/proc/{id}/root{MCONSOLE}")).ok()?;
    let mut answer = Vec::new();
    let mut buffer = [0; 12 + DATA_MAX];
    for _ in 0..PARTS_MAX {
        let Ok(count) = socket.recv(&mut buffer) else { break };
        let Some((text, more)) = part(&buffer[..count]) else { break };
        answer.extend_from_slice(text);
        if !more {
            break;
        }
    }
    (!answer.is_empty()).then(|| String::from_utf8_lossy(&answer).into_owned())
}

/// A socket with a name to which an answer can be sent.
fn answering_socket(id: u32) -> Option<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(format!("kiln-{}-{id}", std::process::id())).ok()?;
    let socket = UnixDatagram::bind_addr(&name).ok()?;
    socket.set_read_timeout(Some(TIMEOUT)).ok()?;
    socket.set_write_timeout(Some(TIMEOUT)).ok()?;
    Some(socket)
}

fn request(command: &str) -> Vec<u8> {
    let mut data = [0; DATA_MAX];
    let length = command.len().min(DATA_MAX - 1);
    data[..length].copy_from_slice(&command.as_bytes()[..length]);
    let numbers = [MAGIC, VERSION, length as u32].map(u32::to_ne_bytes);
    [numbers.as_flattened(), &data].concat()
}

/// The text of a part of an answer, and whether more will come.
fn part(bytes: &[u8]) -> Option<(&[u8], bool)> {
    let number = |index: usize| bytes.get(4 * index..4 * index + 4)?.try_into().map(u32::from_ne_bytes).ok();
    let (more, length) = (number(1)?, number(2)?);
    let data = bytes.get(12..)?;
    let length = usize::try_from(length).ok()?.min(data.len());
    let text = data[..length].split(|&byte| byte == 0).next()?;
    Some((text, more != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_has_the_form_of_version_2() {
        let request = request("sysrq p");
        assert_eq!(request.len(), 12 + DATA_MAX);
        assert_eq!(request[8..12], 7u32.to_ne_bytes());
        assert_eq!(&request[12..20], b"sysrq p\0");
    }

    #[test]
    fn an_answer_is_read_to_its_length() {
        let answer = |more: u32, length: u32, text: &[u8]| {
            [[0, more, length].map(u32::to_ne_bytes).as_flattened(), text].concat()
        };
        assert_eq!(part(&answer(1, 3, b"RIP: 1")), Some((&b"RIP"[..], true)));
        assert_eq!(part(&answer(0, 100, b"RIP\0")), Some((&b"RIP"[..], false)));
        assert_eq!(part(b"short"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = part(&bytes);
        }
    }
}
