//! A stream of a trace: its packets, and its events one by one.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::index::{self, PACKETS_MAX, Packet};
use crate::packet::{HEAD, Head};
use crate::writer::{COMPACT_HEAD, EXTENDED, EXTENDED_HEAD};

/// Longest index that is read, in bytes.
const INDEX_MAX: u64 = 1 << 30;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    file: File,
    path: PathBuf,
    pub(crate) cpu: u32,
    packets: Vec<Packet>,
}

/// A place in a stream: before the event that is next.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    stream: &'a Stream,
    /// The number of the packet that is read next.
    next_packet: usize,
    packet: Vec<u8>,
    /// Where the content of the packet ends.
    end: usize,
    /// Where the next head is.
    at: usize,
    /// The time of the event before.
    time: u64,
}

/// The head of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventHead {
    pub(crate) class: u16,
    pub(crate) time: u64,
    /// Where its context begins.
    pub(crate) at: usize,
}

impl Stream {
    /// Opens a stream; nothing if the file is none.
    pub(crate) fn open(path: &Path, index: &Path, uuid: [u8; 16]) -> Result<Option<Self>, Error> {
        let file = File::open(path).map_err(Error::file(path))?;
        let length = file.metadata().map_err(Error::file(path))?.len();
        let Some(first) = head_at(&file, 0).filter(|head| head.uuid == uuid) else { return Ok(None) };
        let named = read_index(index).and_then(|bytes| index::parse(&bytes, length));
        let packets = match named {
            Some(packets) => packets,
            None => walk(&file, length, uuid),
        };
        if packets.len() > PACKETS_MAX {
            return Err(Error::TooLarge {
                path: path.to_owned(),
                what: "the stream has more than four million packets",
            });
        }
        Ok(Some(Self { file, path: path.to_owned(), cpu: first.cpu, packets }))
    }

    /// The time of its first event.
    pub(crate) fn begin(&self) -> Option<u64> {
        self.packets.first().map(|packet| packet.begin)
    }

    /// The time of its last event.
    pub(crate) fn end(&self) -> Option<u64> {
        self.packets.last().map(|packet| packet.end)
    }

    /// Events that were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.packets.last().map_or(0, |packet| packet.lost)
    }

    /// Before the first packet that ends at this time or later.
    pub(crate) fn cursor(&self, from: u64) -> Cursor<'_> {
        let next_packet = self.packets.partition_point(|packet| packet.end < from);
        Cursor { stream: self, next_packet, packet: Vec::new(), end: 0, at: 0, time: 0 }
    }
}

/// The packets of a stream without an index, up to the first that is not whole.
fn walk(file: &File, length: u64, uuid: [u8; 16]) -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut offset = 0;
    while packets.len() <= PACKETS_MAX {
        let Some(head) = head_at(file, offset).filter(|head| head.uuid == uuid) else { break };
        let next = offset + head.size as u64;
        if next > length {
            break;
        }
        packets.push(Packet { offset, size: head.size, begin: head.begin, end: head.end, lost: head.lost });
        offset = next;
    }
    packets
}

fn head_at(file: &File, offset: u64) -> Option<Head> {
    let mut bytes = [0; HEAD];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Head::read(&bytes)
}

fn read_index(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(INDEX_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Cursor<'_> {
    /// The head of the next event; none at the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub(crate) fn next_head(&mut self, damage: &mut u64) -> Result<Option<EventHead>, Error> {
        loop {
            if self.at < self.end {
                if let Some(head) = self.head() {
                    return Ok(Some(head));
                }
                *damage += 1;
                self.at = self.end;
            }
            if !self.read_packet(damage)? {
                return Ok(None);
            }
        }
    }

    /// The bytes from a place to the end of the packet.
    pub(crate) fn bytes(&self, from: usize) -> &[u8] {
        self.packet.get(from..self.end).unwrap_or_default()
    }

    /// The event is as long as this: the next one begins there.
    pub(crate) fn pass(&mut self, to: usize) {
        self.at = to;
    }

    /// What is left of the packet cannot be read.
    pub(crate) fn give_up_packet(&mut self) {
        self.at = self.end;
    }

    fn head(&mut self) -> Option<EventHead> {
        let bytes = self.packet.get(self.at..self.end)?;
        let short = u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?);
        let (class, time, size) = if short == EXTENDED {
            let class = u32::from_le_bytes(bytes.get(2..6)?.try_into().ok()?);
            let time = u64::from_le_bytes(bytes.get(6..EXTENDED_HEAD)?.try_into().ok()?);
            (u16::try_from(class).ok()?, time, EXTENDED_HEAD)
        } else {
            let low = u64::from(u32::from_le_bytes(bytes.get(2..COMPACT_HEAD)?.try_into().ok()?));
            let time = self.time & !u64::from(u32::MAX) | low;
            let has_wrapped = time < self.time;
            (short, time.wrapping_add(u64::from(has_wrapped) << 32), COMPACT_HEAD)
        };
        self.time = time;
        Some(EventHead { class, time, at: self.at + size })
    }

    fn read_packet(&mut self, damage: &mut u64) -> Result<bool, Error> {
        let Some(packet) = self.stream.packets.get(self.next_packet) else { return Ok(false) };
        self.next_packet += 1;
        (self.at, self.end) = (0, 0);
        self.packet.resize(packet.size.min(crate::packet::PACKET_MAX), 0);
        self.stream
            .file
            .read_exact_at(&mut self.packet, packet.offset)
            .map_err(Error::file(&self.stream.path))?;
        match Head::read(&self.packet).filter(|head| head.size == packet.size) {
            Some(head) => (self.at, self.end, self.time) = (HEAD, head.content, head.begin),
            None => *damage += 1,
        }
        Ok(true)
    }

    pub(crate) fn cpu(&self) -> u32 {
        self.stream.cpu
    }
}
