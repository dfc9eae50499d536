//! Where the packets of a stream are: an index as LTTng writes it (`lttng-tools`, `ctf-index.h`), all numbers big endian.

use crate::packet::Head;

/// The first bytes of an index.
const MAGIC: u32 = 0xc1f1_dcc1;

/// Its version.
const MAJOR: u32 = 1;
const MINOR: u32 = 1;

/// Bytes of what is before the entries, and of an entry: offset, sizes of packet and content in bits, begin, end, events lost, class
/// of the stream, its instance, number of the packet.
const HEADER: usize = 16;
const ENTRY: usize = 9 * 8;

/// Packets of a stream that a reader follows: with a quarter of a MiB each, a TiB.
pub(crate) const PACKETS_MAX: usize = 1 << 22;

/// A packet of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub size: usize,
    /// The time of its first event, in nanoseconds.
    pub begin: u64,
    /// The time of its last event, in nanoseconds.
    pub end: u64,
    /// Events of the stream that were lost up to its end.
    pub lost: u64,
}

/// What is before the entries.
pub(crate) fn header() -> Vec<u8> {
    [MAGIC, MAJOR, MINOR, ENTRY as u32].iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// The entry of a packet.
pub(crate) fn entry(offset: u64, head: &Head) -> Vec<u8> {
    let bits = |bytes: usize| bytes as u64 * 8;
    let numbers = [
        offset,
        bits(head.size),
        bits(head.content),
        head.begin,
        head.end,
        head.lost,
        u64::from(head.stream),
        u64::from(head.cpu),
        head.number,
    ];
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// The packets that an index names; nothing unless they follow each other and fill a stream of `length` bytes.
pub(crate) fn parse(bytes: &[u8], length: u64) -> Option<Vec<Packet>> {
    let (head, entries) = bytes.split_at_checked(HEADER)?;
    if head != header() || !entries.len().is_multiple_of(ENTRY) || entries.len() / ENTRY > PACKETS_MAX {
        return None;
    }
    let mut packets: Vec<Packet> = Vec::with_capacity(entries.len() / ENTRY);
    let mut next = 0_u64;
    for entry in entries.chunks_exact(ENTRY) {
        let number = |at: usize| u64::from_be_bytes(entry[at * 8..at * 8 + 8].try_into().unwrap_or_default());
        let size = usize::try_from(number(1) / 8).ok()?;
        let packet = Packet { offset: number(0), size, begin: number(3), end: number(4), lost: number(5) };
        if packet.offset != next || size == 0 {
            return None;
        }
        next = next.checked_add(size as u64)?;
        packets.push(packet);
    }
    (next == length).then_some(packets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::HEAD;

    fn index(sizes: &[usize]) -> (Vec<u8>, u64) {
        let (mut bytes, mut offset) = (header(), 0);
        for (number, size) in (0..).zip(sizes) {
            let (begin, end) = (number * 10, number * 10 + 9);
            let head = Head {
                uuid: [0; 16],
                stream: 0,
                begin,
                end,
                content: HEAD,
                size: *size,
                number,
                lost: 0,
                cpu: 3,
            };
            bytes.extend(entry(offset, &head));
            offset += *size as u64;
        }
        (bytes, offset)
    }

    #[test]
    fn an_index_names_the_packets() {
        let (bytes, length) = index(&[100, 200]);
        let packets = parse(&bytes, length).expect("it is one");
        assert_eq!(packets[1], Packet { offset: 100, size: 200, begin: 10, end: 19, lost: 0 });
        assert_eq!(packets.len(), 2);
        assert_eq!(parse(&header(), 0), Some(Vec::new()));
    }

    #[test]
    fn an_index_of_another_stream_is_no_use() {
        let (bytes, length) = index(&[100, 200]);
        assert_eq!(parse(&bytes, length + 1), None);
        assert_eq!(parse(&bytes[..bytes.len() - 1], length), None);
        let mut overlapping = bytes.clone();
        overlapping[HEADER + ENTRY + 7] = 99;
        assert_eq!(parse(&overlapping, length), None);
        let mut other = bytes;
        other[3] = 0;
        assert_eq!(parse(&other, length), None);
        assert_eq!(parse(&index(&[0]).0, 0), None);
    }
}
