//! What QEMU's plugin writes about the instructions that a guest executed.
//!
//! A file that grows: [`MAGIC`], [`VERSION`], then records. Every number is little endian. A record is its kind (u32),
//! the length of what follows (u32), and:
//!
//! * [`BLOCKS`]: runs of instructions that were executed one after the other, in the kernel. How many (u32), then of
//!   each the address (u64), how many instructions (u16), and the size of each of these in bytes (u8). Blocks are
//!   numbered from 0 as they come in the file.
//! * [`STACKS`]: chains of calls in the kernel. How many (u32), then of each the number of its caller's chain (u32), which
//!   is smaller, and the address where the function was entered (u64). They are numbered from 1 as they come in the file;
//!   0 is the chain without calls.
//! * [`JOB`]: one job, after the blocks and stacks that are new in it.
//!   * Its repetitions in their order, [`REPETITIONS_MAX`] at most: how many (u32), and of each the instructions outside
//!     (u64) and inside (u64) the kernel. They are counted as the time-stamp counter does it: behind the first reading
//!     of it that follows the mark of the beginning, up to and with the last one before the mark of the end.
//!   * How many repetitions are in none of the following variants (u32).
//!   * Variants, which are repetitions with the same numbers of instructions; [`VARIANTS_MAX`] at most: how many (u32),
//!     and of each how many repetitions it stands for (u32), instructions outside (u64) and inside (u64) the kernel, and
//!     its blocks: how many (u32), and of each the chain of calls that led to it (u32), its number (u32), and how often
//!     it was executed (u32).
//! * [`EVENTS`]: one job of a plugin that only counts events, in place of all of the above. How many events there are
//!   (u32), how many repetitions, [`REPETITIONS_MAX`] at most (u32), and of each how often each event happened in it (u64).
//!
//! A plugin that only counts events finds them in another file: the entries of functions whose calls are events, each
//! as the bytes of an [`Entry`].

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"kilnprof";

/// The version of this form, four bytes after [`MAGIC`].
pub const VERSION: u32 = 1;

/// The kind of a record with blocks.
pub const BLOCKS: u32 = 1;

/// The kind of a record with a job.
pub const JOB: u32 = 2;

/// The kind of a record with stacks.
pub const STACKS: u32 = 3;

/// The kind of a record with the events of a job.
pub const EVENTS: u32 = 4;

/// Most events that are told from each other.
pub const EVENTS_MAX: usize = 64;

/// Most repetitions of a job that are listed.
pub const REPETITIONS_MAX: usize = 64;

/// Most variants of a job.
pub const VARIANTS_MAX: usize = 16;

/// Most blocks of a file.
pub const BLOCKS_MAX: usize = 1 << 18;

/// Most blocks of a variant, each with the chains of calls that led to it.
pub const EXECUTIONS_MAX: usize = 1 << 18;

/// Most stacks of a file, with the one without calls.
pub const STACKS_MAX: usize = 1 << 18;

/// Most calls of a chain.
pub const FRAMES_MAX: usize = 128;

/// Most instructions of a block: QEMU's own limit (`TCG_MAX_INSNS`).
pub const INSTRUCTIONS_MAX: usize = 512;

/// Where a function begins each call of which is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The address of its first instruction.
    pub address: u64,
    /// Which event, from 0: below [`EVENTS_MAX`].
    pub event: u32,
}

impl Entry {
    /// How many bytes it has.
    pub const SIZE: usize = 12;

    /// Its bytes: address and event, little endian.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[8..].copy_from_slice(&self.event.to_le_bytes());
        bytes
    }

    /// The entry with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (mut address, mut event) = ([0; 8], [0; 4]);
        address.copy_from_slice(&bytes[..8]);
        event.copy_from_slice(&bytes[8..]);
        Self { address: u64::from_le_bytes(address), event: u32::from_le_bytes(event) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let entry = Entry { address: 0xffff_ffff_8100_0010, event: 7 };
        assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
        assert_eq!(entry.to_bytes(), [0x10, 0, 0, 0x81, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0]);
    }
}
