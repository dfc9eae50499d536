//! The blocks of a pcapng file, as draft-ietf-opsawg-pcapng describes them.

use std::time::Duration;

use crate::statistics::Cause;

/// Types of blocks.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// Options. A code means what its block says.
const END: u16 = 0;
const COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

/// Time stamps are in units of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// Which way a frame goes, as the switch sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    /// It comes from the machine.
    In = 1,
    /// It goes to the machine.
    Out = 2,
}

/// A frame at a port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet<'a> {
    /// The number of the port.
    pub(crate) port: usize,
    /// Which way it goes.
    pub(crate) heading: Heading,
    /// When, since the segment began.
    pub(crate) at: Duration,
    /// Its bytes, as far as they are known.
    pub(crate) frame: &'a [u8],
    /// How many bytes it has.
    pub(crate) length: usize,
    /// Why it went no further.
    pub(crate) drop: Option<Cause>,
}

/// What stands before all packets: the section, and an interface for each port.
pub(super) fn head<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut out = Vec::new();
    block(&mut out, SECTION_HEADER, |out| {
        words(out, &[0x1a2b_3c4d, 1]);
        // Nobody knows how long the section will be.
        out.extend((-1i64).to_le_bytes());
        option(out, SECTION_APPLICATION, b"kiln");
        option(out, END, b"");
    });
    for name in names {
        block(&mut out, INTERFACE, |out| {
            // No limit on the length of a packet.
            words(out, &[ETHERNET.into(), 0]);
            option(out, INTERFACE_NAME, name.as_bytes());
            option(out, INTERFACE_RESOLUTION, &[NANOSECONDS]);
            option(out, END, b"");
        });
    }
    out
}

/// One packet, at this time since 1970.
pub(super) fn packet(out: &mut Vec<u8>, packet: &Packet<'_>, time: Duration) {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let fields = [packet.port as u32, (nanos >> 32) as u32, nanos as u32, packet.frame.len() as u32];
    block(out, ENHANCED_PACKET, |out| {
        words(out, &fields);
        words(out, &[packet.length as u32]);
        padded(out, packet.frame);
        option(out, PACKET_FLAGS, &(packet.heading as u32).to_le_bytes());
        if let Some(cause) = packet.drop {
            option(out, COMMENT, format!("dropped: {cause}").as_bytes());
        }
        option(out, END, b"");
    });
}

/// A block: its type, its length, what `fill` writes, and its length again.
fn block(out: &mut Vec<u8>, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    words(out, &[kind, 0]);
    fill(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out.extend(length);
    if let Some(place) = out.get_mut(start + 4..start + 8) {
        place.copy_from_slice(&length);
    }
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    padded(out, value);
}

/// Bytes, and zeros up to a multiple of four.
fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.extend(std::iter::repeat_n(0, bytes.len().next_multiple_of(4) - bytes.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types and contents of all blocks, whose lengths agree.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let length = word(bytes, 4) as usize;
            assert_eq!((word(bytes, length - 4) as usize, length % 4), (length, 0));
            found.push((word(bytes, 0), &bytes[8..length - 4]));
            bytes = &bytes[length..];
        }
        found
    }

    #[test]
    fn a_section_has_an_interface_for_each_port_and_packets() {
        let mut bytes = head(["a", "gate"].into_iter());
        let one = Packet {
            port: 1,
            heading: Heading::Out,
            at: Duration::ZERO,
            frame: b"12345",
            length: 9,
            drop: Some(Cause::Loss),
        };
        packet(&mut bytes, &one, Duration::from_secs(5));
        let found = blocks(&bytes);
        assert_eq!(found.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [SECTION_HEADER, 1, 1, 6]);
        assert_eq!(found[2].1, b"\x01\0\0\0\0\0\0\0\x02\0\x04\0gate\x09\0\x01\0\x09\0\0\0\0\0\0\0");
        let wanted = b"\x01\0\0\0\x01\0\0\0\0\xf2\x05\x2a\x05\0\0\0\x09\0\0\x0012345\0\0\0\
            \x02\0\x04\0\x02\0\0\0\x01\0\x0d\0dropped: loss\0\0\0\0\0\0\0";
        assert_eq!(found[3].1, wanted);
    }
}
