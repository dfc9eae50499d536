//! The head of a packet: its header and its context.

/// The first bytes of each packet.
pub const MAGIC: u32 = 0xc1fc_1fc1;

/// Bytes of a head: magic, UUID, number of the stream's class; begin, end, sizes of content and packet in bits, number of the packet,
/// events lost so far, CPU.
pub const HEAD: usize = 4 + 16 + 4 + 6 * 8 + 4;

/// No packet is larger, in bytes.
pub const PACKET_MAX: usize = 16 << 20;

/// What the head of a packet says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// That of the trace.
    pub uuid: [u8; 16],
    /// The class of its stream.
    pub stream: u32,
    /// The time of its first event, in nanoseconds.
    pub begin: u64,
    /// The time of its last event, in nanoseconds.
    pub end: u64,
    /// Bytes with the head up to the end of the last event.
    pub content: usize,
    /// Bytes with the head.
    pub size: usize,
    /// Its number in the stream, from 0.
    pub number: u64,
    /// Events of the stream that were lost up to its end.
    pub lost: u64,
    /// The CPU.
    pub cpu: u32,
}

impl Head {
    /// The same in bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; HEAD] {
        let bits = |bytes: usize| (bytes as u64 * 8).to_le_bytes();
        let parts: [&[u8]; 10] = [
            &MAGIC.to_le_bytes(),
            &self.uuid,
            &self.stream.to_le_bytes(),
            &self.begin.to_le_bytes(),
            &self.end.to_le_bytes(),
            &bits(self.content),
            &bits(self.size),
            &self.number.to_le_bytes(),
            &self.lost.to_le_bytes(),
            &self.cpu.to_le_bytes(),
        ];
        let mut head = [0; HEAD];
        let mut at = 0;
        for part in parts {
            head[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        head
    }

    /// Reads a head; nothing if it is none or its sizes are impossible.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEAD] = bytes.get(..HEAD)?.try_into().ok()?;
        let short = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(short(at + 4)) << 32 | u64::from(short(at));
        let size = |at: usize| usize::try_from(long(at) / 8).ok();
        let head = Self {
            uuid: bytes[4..20].try_into().ok()?,
            stream: short(20),
            begin: long(24),
            end: long(32),
            content: size(40)?,
            size: size(48)?,
            number: long(56),
            lost: long(64),
            cpu: short(72),
        };
        let is_possible =
            (HEAD..=PACKET_MAX).contains(&head.size) && (HEAD..=head.size).contains(&head.content);
        (short(0) == MAGIC && is_possible).then_some(head)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            uuid in any::<[u8; 16]>(), begin in any::<u64>(), end in any::<u64>(), number in any::<u64>(), lost in any::<u64>(),
            cpu in any::<u32>(), content in HEAD..5000, more in 0..5000_usize,
        ) {
            let head = Head { uuid, stream: 1, begin, end, content, size: content + more, number, lost, cpu };
            prop_assert_eq!(Head::read(&head.bytes()), Some(head));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Head::read(&bytes);
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let head = Head {
            uuid: [0; 16],
            stream: 0,
            begin: 0,
            end: 0,
            content: HEAD,
            size: HEAD,
            number: 0,
            lost: 0,
            cpu: 0,
        };
        let is_read = |head: Head| Head::read(&head.bytes()).is_some();
        assert!(is_read(head));
        for (content, size) in [
            (HEAD - 1, HEAD),
            (HEAD + 1, HEAD),
            (0, 0),
            (HEAD, PACKET_MAX + 1),
            (usize::MAX >> 3, usize::MAX >> 3),
        ] {
            assert!(!is_read(Head { content, size, ..head }), "{content} {size}");
        }
    }
}
