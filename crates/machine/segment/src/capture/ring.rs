//! The last blocks of a capture, in a memory of fixed size.

use std::collections::VecDeque;

/// Blocks one after the other, each with its length in its second word.
pub(super) struct Ring {
    bytes: VecDeque<u8>,
    bytes_max: usize,
}

impl Ring {
    /// A ring of so many bytes; one without any keeps nothing.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: VecDeque::new(), bytes_max }
    }

    pub(super) fn is_off(&self) -> bool {
        self.bytes_max == 0
    }

    /// Adds a block in place of the oldest ones.
    pub(super) fn push(&mut self, block: &[u8]) {
        if block.len() > self.bytes_max {
            return;
        }
        while self.bytes.len() + block.len() > self.bytes_max {
            self.drop_first();
        }
        self.bytes.extend(block);
    }

    fn drop_first(&mut self) {
        let word = std::array::from_fn(|index| self.bytes.get(4 + index).copied().unwrap_or_default());
        // A length of zero would make the caller wait for ever.
        let length = (u32::from_le_bytes(word) as usize).clamp(1, self.bytes.len().max(1));
        self.bytes.drain(..length.min(self.bytes.len()));
    }

    /// All blocks, the oldest first.
    pub(super) fn append_to(&self, all: &mut Vec<u8>) {
        let (first, second) = self.bytes.as_slices();
        all.extend_from_slice(first);
        all.extend_from_slice(second);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_last_blocks_that_fit_are_kept(lengths in prop::collection::vec(8usize..200, 0..100), size in 0usize..1000) {
            let mut ring = Ring::new(size);
            let block = |(number, length): (usize, &usize)| {
                let mut block = vec![number as u8; *length];
                block[4..8].copy_from_slice(&(*length as u32).to_le_bytes());
                block
            };
            let blocks: Vec<Vec<u8>> =
                lengths.iter().enumerate().map(block).filter(|block| block.len() <= size).collect();
            blocks.iter().for_each(|block| ring.push(block));
            let mut kept = Vec::new();
            ring.append_to(&mut kept);
            let mut room = size;
            let fits = |block: &&Vec<u8>| {
                let left = room.checked_sub(block.len());
                room = left.unwrap_or_default();
                left.is_some()
            };
            let count = blocks.iter().rev().take_while(fits).count();
            prop_assert_eq!(kept, blocks[blocks.len() - count..].concat());
        }
    }
}
