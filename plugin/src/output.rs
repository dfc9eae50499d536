//! How a job is written: see [`protocol::profile`].

use protocol::profile::{BLOCKS, EVENTS, EVENTS_MAX, JOB, MAGIC, STACKS, VERSION};

use crate::blocks::Blocks;
use crate::events::Counts;
use crate::job::{Job, Variant};
use crate::stacks::Stacks;

/// Most bytes of a file.
const OUTPUT_MAX: usize = 256 << 20;

/// Gives jobs their form.
#[derive(Debug)]
pub struct Output {
    /// Blocks that are in the file, and chains of calls: the first is in each file.
    blocks: u32,
    stacks: usize,
    /// Bytes so far.
    written: usize,
}

impl Default for Output {
    fn default() -> Self {
        Self { blocks: 0, stacks: 1, written: 0 }
    }
}

impl Output {
    /// What comes next in the file; nothing when that would make it too long.
    pub fn job(&mut self, job: &Job, blocks: &mut Blocks, stacks: &Stacks) -> Option<Vec<u8>> {
        let mut bytes = self.beginning();
        record(&mut bytes, BLOCKS, &self.new_blocks(job, blocks));
        record(&mut bytes, STACKS, &self.new_stacks(stacks));
        record(&mut bytes, JOB, &repetitions(job, blocks));
        self.within_limit(bytes)
    }

    /// What comes next where only events are counted; nothing when that would make the file too long.
    pub fn events(&mut self, repetitions: &[Counts]) -> Option<Vec<u8>> {
        let mut bytes = self.beginning();
        let counts = repetitions.iter().flatten().flat_map(|count| count.to_le_bytes());
        let numbers = [count(EVENTS_MAX), count(repetitions.len())].into_iter().flatten();
        record(&mut bytes, EVENTS, &numbers.chain(counts).collect::<Vec<u8>>());
        self.within_limit(bytes)
    }

    /// What the file begins with, if it has not begun.
    fn beginning(&self) -> Vec<u8> {
        match self.written {
            0 => [&MAGIC[..], &VERSION.to_le_bytes()].concat(),
            _ => Vec::new(),
        }
    }

    fn within_limit(&mut self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        self.written = self.written.saturating_add(bytes.len());
        (self.written <= OUTPUT_MAX).then_some(bytes)
    }

    /// Numbers the blocks that are not in the file yet.
    fn new_blocks(&mut self, job: &Job, blocks: &mut Blocks) -> Vec<u8> {
        let (mut count, mut payload) = (0, Vec::new());
        for &(_, id, _) in job.variants.iter().flat_map(|variant| &variant.blocks) {
            let Some(block) = blocks.known(id).filter(|block| block.written.is_none()) else { continue };
            block.written = Some(self.blocks);
            self.blocks += 1;
            count += 1;
            payload.extend(block.address.to_le_bytes());
            payload.extend(u16::try_from(block.length()).unwrap_or(u16::MAX).to_le_bytes());
            payload.extend(&block.sizes);
        }
        [&u32::to_le_bytes(count)[..], &payload].concat()
    }

    /// All that there are beyond those in the file: a caller's comes before it.
    fn new_stacks(&mut self, stacks: &Stacks) -> Vec<u8> {
        let new = stacks.links().get(self.stacks..).unwrap_or_default();
        self.stacks = stacks.links().len();
        let mut bytes = count(new.len()).to_vec();
        for link in new {
            bytes.extend(link.caller.to_le_bytes());
            bytes.extend(link.entry.to_le_bytes());
        }
        bytes
    }
}

fn record(bytes: &mut Vec<u8>, kind: u32, payload: &[u8]) {
    bytes.extend(kind.to_le_bytes());
    bytes.extend(count(payload.len()));
    bytes.extend(payload);
}

fn repetitions(job: &Job, blocks: &Blocks) -> Vec<u8> {
    let mut bytes = count(job.repetitions.len()).to_vec();
    for tally in &job.repetitions {
        bytes.extend(tally.user.to_le_bytes());
        bytes.extend(tally.kernel.to_le_bytes());
    }
    bytes.extend(job.dropped.to_le_bytes());
    bytes.extend(count(job.variants.len()));
    job.variants.iter().for_each(|it| variant(&mut bytes, it, blocks));
    bytes
}

fn variant(bytes: &mut Vec<u8>, variant: &Variant, blocks: &Blocks) {
    bytes.extend(variant.repetitions.to_le_bytes());
    bytes.extend(variant.tally.user.to_le_bytes());
    bytes.extend(variant.tally.kernel.to_le_bytes());
    let numbered = |&(chain, id, executions)| Some([chain, blocks.get(id).written?, executions]);
    let numbers: Vec<[u32; 3]> = variant.blocks.iter().filter_map(numbered).collect();
    bytes.extend(count(numbers.len()));
    numbers.iter().flatten().for_each(|number| bytes.extend(number.to_le_bytes()));
}

fn count(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Tally;

    #[test]
    fn a_block_is_written_once() {
        let mut blocks = Blocks::default();
        let id = blocks.id(0xffff_ffff_8100_0000, &[1, 2]);
        let mut job = Job::default();
        job.add(Tally { user: 1, kernel: 4 }, || vec![(1, id, 2)]);
        let mut stacks = Stacks::default();
        stacks.call(0x1000, 0, 0x55);
        let mut output = Output::default();
        let first = output.job(&job, &mut blocks, &stacks).unwrap();
        let second = output.job(&job, &mut blocks, &stacks).unwrap();
        assert!(first.starts_with(b"kilnprof\x01\0\0\0\x01\0\0\0\x10\0\0\0\x01\0\0\0"), "{first:?}");
        let nothing_new = b"\x01\0\0\0\x04\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x02\0\0\0";
        assert!(second.starts_with(nothing_new), "{second:?}");
        let one_stack = b"\x03\0\0\0\x10\0\0\0\x01\0\0\0\0\0\0\0\x55\0\0\0\0\0\0\0";
        assert!(first.windows(one_stack.len()).any(|bytes| bytes == one_stack), "{first:?}");
        assert_eq!(first[first.len() - 12..], [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn a_file_that_is_too_long_goes_no_further() {
        let mut output = Output { written: OUTPUT_MAX, ..Output::default() };
        let (mut blocks, stacks) = (Blocks::default(), Stacks::default());
        assert_eq!(output.job(&Job::default(), &mut blocks, &stacks), None);
    }
}
