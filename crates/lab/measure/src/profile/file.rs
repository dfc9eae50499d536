//! What the plugin wrote: see [`protocol::profile`].

use protocol::profile::{
    BLOCKS, BLOCKS_MAX, EVENTS, EVENTS_MAX, EXECUTIONS_MAX, FRAMES_MAX, INSTRUCTIONS_MAX, JOB, MAGIC,
    REPETITIONS_MAX, STACKS, STACKS_MAX, VARIANTS_MAX, VERSION,
};

use super::counted::Counted;
use super::job::{Executed, Job, Tally, Variant};

/// Most jobs of a file.
const JOBS_MAX: usize = 4096;

/// Blocks and jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The pieces of code, by their numbers.
    pub blocks: Vec<Block>,
    /// Chains of calls, by their numbers less 1: a caller's comes before it.
    pub stacks: Vec<Stack>,
    /// In the order of the job's numbers.
    pub jobs: Vec<Job>,
    /// In their place the events of each job, where the plugin only counted events.
    pub counted: Vec<Counted>,
}

/// Instructions that are executed one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Of the first one.
    pub address: u64,
    /// Of each, in bytes.
    pub sizes: Vec<u8>,
}

/// A function of the kernel that was called from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// The number of its caller's chain; 0 where that is not known.
    pub caller: u32,
    /// Where it was entered.
    pub entry: u64,
    /// How long the chain is.
    pub depth: usize,
}

/// A file that is not what the plugin writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadProfile {
    /// The first bytes are others.
    #[error("the file of QEMU's plugin is not a profile: its first bytes differ")]
    Magic,
    /// A version that is not known.
    #[error("QEMU's plugin wrote a profile of version {0}, and kiln reads version {VERSION}")]
    Version(u32),
    /// A record that ends before its end.
    #[error("the profile of QEMU's plugin ends in the middle of a record")]
    Truncated,
    /// More of something than there can be.
    #[error("the profile of QEMU's plugin has too many {0}")]
    TooMany(&'static str),
    /// A record of a kind that is not known.
    #[error("the profile of QEMU's plugin has a record of kind {0}, which kiln does not know")]
    Kind(u32),
    /// A record of this kind is longer than what it says.
    #[error("the profile of QEMU's plugin has a record of kind {0} with a wrong length")]
    Trailing(u32),
    /// A number of a block that is not there.
    #[error("the profile of QEMU's plugin counts block {0}, which is missing")]
    Block(u32),
    /// A number of a chain of calls that is not there.
    #[error("the profile of QEMU's plugin names chain of calls {0}, which is missing")]
    Stack(u32),
}

impl Profile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When the plugin did not write it, or not all of it.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadProfile> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len()) != Ok(&MAGIC) {
            return Err(BadProfile::Magic);
        }
        match reader.u32()? {
            VERSION => {}
            other => return Err(BadProfile::Version(other)),
        }
        let mut profile = Self::default();
        while !reader.0.is_empty() {
            let (kind, length) = (reader.u32()?, reader.u32()?);
            let mut record = Reader(reader.take(length as usize)?);
            match kind {
                BLOCKS => profile.add_blocks(&mut record)?,
                STACKS => profile.add_stacks(&mut record)?,
                JOB => profile.add_job(&mut record)?,
                EVENTS => profile.add_counted(&mut record)?,
                other => return Err(BadProfile::Kind(other)),
            }
            if !record.0.is_empty() {
                return Err(BadProfile::Trailing(kind));
            }
        }
        Ok(profile)
    }

    fn add_blocks(&mut self, record: &mut Reader<'_>) -> Result<(), BadProfile> {
        let count = record.count(BLOCKS_MAX.saturating_sub(self.blocks.len()), "blocks")?;
        for _ in 0..count {
            let (address, length) = (record.u64()?, usize::from(record.u16()?));
            if length > INSTRUCTIONS_MAX {
                return Err(BadProfile::TooMany("instructions in a block"));
            }
            let sizes = record.take(length)?.to_vec();
            self.blocks.push(Block { address, sizes });
        }
        Ok(())
    }

    fn add_stacks(&mut self, record: &mut Reader<'_>) -> Result<(), BadProfile> {
        let count = record.count(STACKS_MAX.saturating_sub(self.stacks.len()), "chains of calls")?;
        for _ in 0..count {
            let (caller, entry) = (self.known_stack(record.u32()?)?, record.u64()?);
            let depth = 1 + self.stack(caller).map_or(0, |stack| stack.depth);
            if depth > FRAMES_MAX {
                return Err(BadProfile::TooMany("calls in a chain"));
            }
            self.stacks.push(Stack { caller, entry, depth });
        }
        Ok(())
    }

    /// The chain of calls with this number; nothing for the one without calls.
    #[must_use]
    pub fn stack(&self, number: u32) -> Option<&Stack> {
        self.stacks.get((number as usize).checked_sub(1)?)
    }

    fn known_stack(&self, number: u32) -> Result<u32, BadProfile> {
        if number as usize <= self.stacks.len() { Ok(number) } else { Err(BadProfile::Stack(number)) }
    }

    fn known_block(&self, number: u32) -> Result<u32, BadProfile> {
        if (number as usize) < self.blocks.len() { Ok(number) } else { Err(BadProfile::Block(number)) }
    }

    fn add_job(&mut self, record: &mut Reader<'_>) -> Result<(), BadProfile> {
        if self.jobs.len() >= JOBS_MAX {
            return Err(BadProfile::TooMany("jobs"));
        }
        let repetitions = record.count(REPETITIONS_MAX, "repetitions")?;
        let repetitions = (0..repetitions).map(|_| record.tally()).collect::<Result<_, _>>()?;
        let dropped = record.u32()?;
        let variants = record.count(VARIANTS_MAX, "variants")?;
        let variants = (0..variants).map(|_| self.variant(record)).collect::<Result<_, _>>()?;
        self.jobs.push(Job { repetitions, dropped, variants });
        Ok(())
    }

    fn add_counted(&mut self, record: &mut Reader<'_>) -> Result<(), BadProfile> {
        if self.counted.len() >= JOBS_MAX {
            return Err(BadProfile::TooMany("jobs"));
        }
        let events = record.count(EVENTS_MAX, "events")?;
        let repetitions = record.count(REPETITIONS_MAX, "repetitions")?;
        let mut repetition = || (0..events).map(|_| record.u64()).collect();
        let repetitions = (0..repetitions).map(|_| repetition()).collect::<Result<_, _>>()?;
        self.counted.push(Counted { repetitions });
        Ok(())
    }

    fn variant(&self, record: &mut Reader<'_>) -> Result<Variant, BadProfile> {
        let (repetitions, tally) = (record.u32()?, record.tally()?);
        let count = record.count(EXECUTIONS_MAX, "blocks in a variant")?;
        let executed = |record: &mut Reader<'_>| {
            let (stack, block) = (self.known_stack(record.u32()?)?, self.known_block(record.u32()?)?);
            Ok(Executed { stack, block, times: record.u32()? })
        };
        let blocks = (0..count).map(|_| executed(record)).collect::<Result<_, _>>()?;
        Ok(Variant { repetitions, tally, blocks })
    }
}

/// What has not been read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], BadProfile> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(BadProfile::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadProfile> {
        self.take(N)?.try_into().map_err(|_| BadProfile::Truncated)
    }

    fn u16(&mut self) -> Result<u16, BadProfile> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, BadProfile> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, BadProfile> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self, most: usize, of_what: &'static str) -> Result<usize, BadProfile> {
        let count = self.u32()? as usize;
        if count <= most { Ok(count) } else { Err(BadProfile::TooMany(of_what)) }
    }

    fn tally(&mut self) -> Result<Tally, BadProfile> {
        Ok(Tally { user: self.u64()?, kernel: self.u64()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one block, one stack and one job of one repetition.
    fn file() -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
        let mut record = |kind: u32, payload: &[u8]| {
            bytes.extend(kind.to_le_bytes());
            bytes.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
            bytes.extend(payload);
        };
        let numbers = |numbers: &[u32]| numbers.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        record(BLOCKS, &[&numbers(&[1, 0x8100_0000, 0xffff_ffff])[..], &[2, 0, 3, 4]].concat());
        record(STACKS, &numbers(&[1, 0, 0x8100_0000, 0xffff_ffff]));
        record(JOB, &numbers(&[1, 5, 0, 4, 0, 0, 1, 1, 5, 0, 4, 0, 1, 1, 0, 2]));
        bytes
    }

    #[test]
    fn blocks_and_jobs_are_read() {
        let tally = Tally { user: 5, kernel: 4 };
        let variant =
            Variant { repetitions: 1, tally, blocks: vec![Executed { stack: 1, block: 0, times: 2 }] };
        let expected = Profile {
            blocks: vec![Block { address: 0xffff_ffff_8100_0000, sizes: vec![3, 4] }],
            stacks: vec![Stack { caller: 0, entry: 0xffff_ffff_8100_0000, depth: 1 }],
            jobs: vec![Job { repetitions: vec![tally], dropped: 0, variants: vec![variant] }],
            counted: Vec::new(),
        };
        assert_eq!(Profile::parse(&file()), Ok(expected));
    }

    #[test]
    fn events_are_read_or_refused() {
        let file = |events: u32, repetitions: u32, counts: &[u64]| {
            let numbers: Vec<u8> = [events, repetitions].iter().flat_map(|it| it.to_le_bytes()).collect();
            let counts: Vec<u8> = counts.iter().flat_map(|it| it.to_le_bytes()).collect();
            let length = u32::try_from(numbers.len() + counts.len()).unwrap().to_le_bytes();
            let bytes =
                [&MAGIC[..], &VERSION.to_le_bytes(), &EVENTS.to_le_bytes(), &length, &numbers, &counts];
            Profile::parse(&bytes.concat())
        };
        let counted = vec![Counted { repetitions: vec![vec![1, 2], vec![3, 4]] }];
        assert_eq!(file(2, 2, &[1, 2, 3, 4]), Ok(Profile { counted, ..Profile::default() }));
        assert_eq!(file(2, 2, &[1, 2, 3]), Err(BadProfile::Truncated));
        assert_eq!(file(2, 1, &[1, 2, 3]), Err(BadProfile::Trailing(EVENTS)));
        assert_eq!(file(65, 0, &[]), Err(BadProfile::TooMany("events")));
        assert_eq!(file(0, 65, &[]), Err(BadProfile::TooMany("repetitions")));
    }

    #[test]
    fn a_file_that_ends_too_early_says_so() {
        let file = file();
        let complete = [12, 12 + 8 + 16, 12 + 8 + 16 + 8 + 16, file.len()];
        for length in 0..file.len() {
            let expected = match length {
                0..8 => Some(BadProfile::Magic),
                _ if complete.contains(&length) => None,
                _ => Some(BadProfile::Truncated),
            };
            assert_eq!(Profile::parse(&file[..length]).err(), expected, "{length} bytes");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let changed = |from_end: usize, value: u32| {
            let mut bytes = file();
            let place = bytes.len() - from_end;
            bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
            Profile::parse(&bytes).unwrap_err()
        };
        assert_eq!(changed(8, 7), BadProfile::Block(7));
        assert_eq!(changed(12, 7), BadProfile::Stack(7));
        assert_eq!(changed(16, u32::MAX), BadProfile::TooMany("blocks in a variant"));
        assert_eq!(changed(40, 17), BadProfile::TooMany("variants"));
        assert_eq!(changed(72, 9), BadProfile::Kind(9));
        assert_eq!(changed(72, BLOCKS), BadProfile::Trailing(BLOCKS));
        assert_eq!(changed(84, 1), BadProfile::Stack(1));
        let mut other = file();
        other[8] = 9;
        assert_eq!(Profile::parse(&other), Err(BadProfile::Version(9)));
    }

    #[test]
    fn any_change_of_a_byte_is_read_or_refused() {
        for place in 12..file().len() {
            for value in 0..=u8::MAX {
                let mut bytes = file();
                bytes[place] = value;
                if let Ok(profile) = Profile::parse(&bytes) {
                    assert!(profile.blocks.len() <= 1 && profile.jobs.len() <= 1, "{place}: {value}");
                }
            }
        }
    }
}
