//! A stream of which only the end is kept.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};

use crate::index;
use crate::packet::Head;

/// Bytes that are moved at once.
const CHUNK: usize = 1 << 20;

/// The packets of a stream that are kept.
#[derive(Debug)]
pub(crate) struct Tail {
    /// How long before the last event, in nanoseconds.
    time: u64,
    /// Where they are.
    packets: VecDeque<(u64, Head)>,
}

impl Tail {
    /// Keeps what is at most so many nanoseconds before the last event, and the rest of its packet.
    pub(crate) fn new(time: u64) -> Self {
        Self { time, packets: VecDeque::new() }
    }

    /// A packet was written; gives back the space of those that are too old.
    pub(crate) fn add(&mut self, file: &File, offset: u64, head: Head) {
        let newest = head.end;
        self.packets.push_back((offset, head));
        while self.packets.front().is_some_and(|(_, head)| head.end.saturating_add(self.time) < newest) {
            let Some((offset, head)) = self.packets.pop_front() else { return };
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Where a file cannot have holes, the stream takes more space until it ends.
            let _ = fallocate(file, flags, offset, head.size as u64);
        }
    }

    /// Leaves nothing but the packets that are kept in a stream and its index.
    pub(crate) fn finish(self, file: &File, index: &File) -> io::Result<()> {
        let Some(first) = self.packets.front().map(|(offset, _)| *offset).filter(|first| *first > 0) else {
            return Ok(());
        };
        let end = file.metadata()?.len();
        let mut buffer = vec![0; CHUNK];
        let mut from = first;
        while from < end {
            let size = file.read_at(&mut buffer, from)?;
            if size == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            file.write_all_at(&buffer[..size], from - first)?;
            from += size as u64;
        }
        file.set_len(end - first)?;
        let entries = self.packets.iter().flat_map(|(offset, head)| index::entry(offset - first, head));
        let bytes: Vec<u8> = index::header().into_iter().chain(entries).collect();
        index.write_all_at(&bytes, 0)?;
        index.set_len(bytes.len() as u64)
    }
}
