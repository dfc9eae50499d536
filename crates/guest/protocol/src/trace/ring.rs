//! The memory through which a recording reaches the host: a ring buffer of one writer and one reader.
//!
//! It begins with a page, and the rest is a ring of blocks. A block begins at a multiple of [`ALIGNMENT`] and lies in one
//! piece: where one does not fit before the end of the memory, a [`Kind::Gap`] takes its place. Places are counted from
//! the begin of the recording and never wrap; [`WRITTEN`] is where the next block begins, and [`TAKEN`] where the reader is.
//!
//! The writer can ask for the reader's clock: it increments [`ASKED`], and the reader writes its time to [`TIME`] and then the
//! number of the question to [`ANSWERED`].

/// Where the number of bytes is that have been written: u64, little endian, and so are all numbers.
pub const WRITTEN: usize = 64;

/// Where the number of bytes is that have been taken.
pub const TAKEN: usize = 128;

/// Where the number of the writer's last question for the time is.
pub const ASKED: usize = 192;

/// Where the reader's CLOCK_REALTIME is, in nanoseconds.
pub const TIME: usize = 256;

/// Where the number of the question is that was answered last.
pub const ANSWERED: usize = 320;

/// Where the blocks begin.
pub const BLOCKS: usize = 4096;

/// What the begin of each block is a multiple of, and the size of its head.
pub const ALIGNMENT: usize = 16;

/// Size of the memory in a machine: the last part of its window.
pub const MACHINE_SIZE: usize = 16 << 20;

/// What is in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Gap,
    /// An [`Entry`](super::Entry), in the binary form of postcard.
    Entry,
    /// A page of the kernel's ring buffer of a CPU.
    Page {
        /// The CPU.
        cpu: u32,
    },
}

/// How a block begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What follows.
    pub kind: Kind,
    /// How many bytes of it.
    pub length: u32,
}

impl Head {
    /// Its bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; ALIGNMENT] {
        let (kind, cpu) = match self.kind {
            Kind::Gap => (0, 0),
            Kind::Entry => (1, 0),
            Kind::Page { cpu } => (2, cpu),
        };
        let mut bytes = [0; ALIGNMENT];
        for (at, word) in [(0, self.length), (4, kind), (8, cpu)] {
            bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        bytes
    }

    /// Reads a head; nothing if it is none.
    #[must_use]
    pub fn read(bytes: &[u8; ALIGNMENT]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let kind = match word(4) {
            0 => Kind::Gap,
            1 => Kind::Entry,
            2 => Kind::Page { cpu: word(8) },
            _ => return None,
        };
        Some(Self { kind, length: word(0) })
    }

    /// Bytes that the whole block takes.
    #[must_use]
    pub fn block(self) -> usize {
        ALIGNMENT + (self.length as usize).next_multiple_of(ALIGNMENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn heads_come_back() {
        for kind in [Kind::Gap, Kind::Entry, Kind::Page { cpu: 77 }] {
            let head = Head { kind, length: 4096 };
            assert_eq!(Head::read(&head.to_bytes()), Some(head));
        }
        assert_eq!(Head { kind: Kind::Entry, length: 1 }.block(), 32);
        assert_eq!(Head { kind: Kind::Gap, length: 0 }.block(), 16);
    }

    proptest! {
        #[test]
        fn any_head_is_read_without_panic(bytes: [u8; ALIGNMENT]) {
            prop_assert!(Head::read(&bytes).is_none_or(|head| head.block() >= ALIGNMENT));
        }
    }
}
