//! Messages of the process connector: `struct nlmsghdr`, `struct cn_msg`, and `struct proc_event` of `linux/cn_proc.h`.

use crate::ending::Ending;
use crate::event::{Event, What};

/// `CN_IDX_PROC`, as group and index.
pub(super) const GROUP: u32 = 1;

/// `CN_VAL_PROC`.
const VALUE: u32 = 1;

/// `PROC_CN_MCAST_LISTEN`.
const LISTEN: u32 = 1;

/// `struct nlmsghdr`: 16 bytes; `struct cn_msg`: 20.
const HEADERS: usize = 36;

/// What the kernel sends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Something happened.
    Event { event: Event, cpu: u32, sequence: u32 },
    /// Something of another kind happened.
    Other { cpu: u32, sequence: u32 },
    /// It sends events from now on.
    Answer,
    /// It does not, for this reason.
    Refusal(i32),
}

/// Asks for events.
pub(super) fn listen() -> Vec<u8> {
    let mut message = Vec::new();
    let length = u32::try_from(HEADERS + 4).unwrap_or_default();
    message.extend(length.to_ne_bytes());
    // NLMSG_DONE, and no flags.
    message.extend([3_u16, 0].map(u16::to_ne_bytes).concat());
    message.extend([0, 0, GROUP, VALUE, 0, 0].map(u32::to_ne_bytes).concat());
    message.extend([4_u16, 0].map(u16::to_ne_bytes).concat());
    message.extend(LISTEN.to_ne_bytes());
    message
}

/// Takes a message apart; nothing if it is another one or cut off.
pub(super) fn parse(bytes: &[u8]) -> Option<Message> {
    let headers = Words(bytes.get(..HEADERS)?);
    if (headers.number(16)?, headers.number(20)?) != (GROUP, VALUE) {
        return None;
    }
    let event = Words(bytes.get(HEADERS..)?);
    let (kind, cpu, sequence) = (event.number(0)?, event.number(4)?, headers.number(24)?);
    if kind == 0 {
        return Some(match event.number(16)? {
            0 => Message::Answer,
            code => Message::Refusal(i32::try_from(code).unwrap_or(libc::EPROTO)),
        });
    }
    let time = u64::from_ne_bytes(event.0.get(8..16)?.try_into().ok()?);
    let Some(what) = what(kind, &event) else { return Some(Message::Other { cpu, sequence }) };
    let event = Event { time, process: event.signed(20)?, thread: event.signed(16)?, what };
    Some(Message::Event { event, cpu, sequence })
}

/// The fields of an event begin with the thread and the process at 16 and 20.
fn what(kind: u32, event: &Words<'_>) -> Option<What> {
    match kind {
        0x1 => {
            let (child, group) = (event.signed(24)?, event.signed(28)?);
            Some(if child == group { What::Fork { child } } else { What::Clone { child } })
        }
        0x2 => Some(What::Exec),
        0x4 => Some(What::User(event.number(24)?, event.number(28)?)),
        0x40 => Some(What::Group(event.number(24)?, event.number(28)?)),
        0x80 => Some(What::Session),
        0x100 => Some(What::Attach(event.signed(28)?)),
        0x200 => {
            let name = event.0.get(24..40)?.split(|&byte| byte == 0).next()?;
            Some(What::Comm(String::from_utf8_lossy(name).into_owned()))
        }
        0x4000_0000 => Some(What::Core),
        0x8000_0000 => Some(What::Exit(Ending::of_status(event.signed(24)?))),
        _ => None,
    }
}

/// Numbers of 32 bits, as this machine has them.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(self.0.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn signed(&self, at: usize) -> Option<i32> {
        self.number(at).map(u32::cast_signed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u32, fields: &[u32]) -> Vec<u8> {
        let mut bytes = listen();
        bytes.truncate(HEADERS);
        bytes[24..28].copy_from_slice(&5_u32.to_ne_bytes());
        bytes.extend([kind, 2].map(u32::to_ne_bytes).concat());
        bytes.extend(1_000_u64.to_ne_bytes());
        bytes.extend(fields.iter().flat_map(|field| field.to_ne_bytes()));
        bytes
    }

    fn of(kind: u32, fields: &[u32]) -> What {
        match parse(&message(kind, fields)) {
            Some(Message::Event { event, cpu: 2, sequence: 5 }) => {
                assert_eq!((event.time, event.thread, event.process), (1_000, 11, 10));
                event.what
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_kinds_are_read() {
        assert_eq!(of(1, &[11, 10, 12, 12]), What::Fork { child: 12 });
        assert_eq!(of(1, &[11, 10, 12, 10]), What::Clone { child: 12 });
        assert_eq!(of(2, &[11, 10]), What::Exec);
        assert_eq!(of(4, &[11, 10, 0, 1000]), What::User(0, 1000));
        assert_eq!(of(0x40, &[11, 10, 0, 1000]), What::Group(0, 1000));
        assert_eq!(of(0x80, &[11, 10]), What::Session);
        assert_eq!(of(0x100, &[11, 10, 20, 20]), What::Attach(20));
        assert_eq!(
            of(0x200, &[11, 10, u32::from_ne_bytes(*b"make"), 0, 0, 0]),
            What::Comm("make".to_owned())
        );
        assert_eq!(of(0x4000_0000, &[11, 10, 1, 1]), What::Core);
        assert_eq!(of(0x8000_0000, &[11, 10, 0x200, 17, 1, 1]), What::Exit(Ending::Code(2)));
        assert_eq!(parse(&message(0x10, &[11, 10])), Some(Message::Other { cpu: 2, sequence: 5 }));
        assert_eq!(parse(&message(0, &[0])), Some(Message::Answer));
        assert_eq!(parse(&message(0, &[1])), Some(Message::Refusal(1)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..120), at in 0..120_usize) {
            let _ = parse(&bytes);
            let mut cut = message(1, &[11, 10, 12, 12]);
            cut.truncate(at);
            prop_assert_eq!(matches!(parse(&cut), Some(Message::Event { .. })), at >= HEADERS + 32);
        }
    }
}
