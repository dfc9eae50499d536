//! The pieces of code that QEMU translated, each once.
//!
//! QEMU translates the same code again when it has thrown its translations away, or for another state of the processor.
//! What stands at the same address and has instructions of the same sizes is the same block.

use protocol::profile::BLOCKS_MAX;

use crate::hash::Table;
use crate::stacks::End;

/// The number of a block.
pub type Id = u32;

/// Blocks without instructions, for code that found no room here: one of user space and one of the kernel.
const UNKNOWN: [u64; 2] = [0, u64::MAX];

/// Instructions that are executed one after the other.
#[derive(Debug, Default)]
pub struct Block {
    /// Of the first instruction.
    pub address: u64,
    /// Of each instruction, in bytes.
    pub sizes: Box<[u8]>,
    /// Faults of user space come here.
    pub fault_entry: bool,
    /// How it ends.
    pub end: End,
    /// Its number in the output, once it is there.
    pub written: Option<u32>,
    /// Another block with this address.
    next: Option<Id>,
}

impl Block {
    /// How many instructions it has.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.sizes.len() as u64
    }

    /// Where the instruction with this index begins, or would begin if there were one more.
    #[must_use]
    pub fn instruction(&self, index: u64) -> u64 {
        let before = self.sizes.iter().take(usize::try_from(index).unwrap_or(usize::MAX));
        before.fold(self.address, |address, &size| address.wrapping_add(size.into()))
    }

    /// Whether it is code of the kernel: the upper half of the addresses.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        is_kernel(self.address)
    }
}

/// Whether this address is in the kernel's half.
#[must_use]
pub fn is_kernel(address: u64) -> bool {
    address >> 63 == 1
}

/// All blocks.
#[derive(Debug)]
pub struct Blocks {
    all: Vec<Block>,
    by_address: Table<u64, Id>,
    /// Where faults of user space come.
    fault_entries: Vec<u64>,
}

/// Most of them; an x86 processor has 32 exceptions.
const FAULT_ENTRIES_MAX: usize = 32;

impl Default for Blocks {
    fn default() -> Self {
        let unknown = UNKNOWN.map(|address| Block { address, ..Block::default() });
        Self { all: unknown.into(), by_address: Table::default(), fault_entries: Vec::new() }
    }
}

impl Blocks {
    /// The block with this code.
    pub fn id(&mut self, address: u64, sizes: &[u8]) -> Id {
        let first = self.by_address.get(&address).copied();
        let mut chain = std::iter::successors(first, |&id| self.get(id).next);
        if let Some(known) = chain.find(|&id| *self.get(id).sizes == *sizes) {
            return known;
        }
        let unknown = Id::from(is_kernel(address));
        if self.all.len() >= BLOCKS_MAX {
            return unknown;
        }
        let id = Id::try_from(self.all.len()).unwrap_or(unknown);
        let fault_entry = self.fault_entries.contains(&address);
        self.all.push(Block { address, sizes: sizes.into(), fault_entry, next: first, ..Block::default() });
        self.by_address.insert(address, id);
        id
    }

    /// The block with this number.
    #[must_use]
    pub fn get(&self, id: Id) -> &Block {
        // The first ones are always there.
        self.all.get(id as usize).unwrap_or(&self.all[0])
    }

    /// A block, to change it; nothing for code that found no room.
    pub fn known(&mut self, id: Id) -> Option<&mut Block> {
        self.all.get_mut(id as usize).filter(|block| !block.sizes.is_empty())
    }

    /// Faults of user space come to this address.
    pub fn add_fault_entry(&mut self, address: u64) {
        if self.fault_entries.len() < FAULT_ENTRIES_MAX {
            self.fault_entries.push(address);
            let there = self.all.iter_mut().filter(|block| block.address == address);
            there.for_each(|block| block.fault_entry = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_translated_again_is_the_same_block() {
        let mut blocks = Blocks::default();
        let one = blocks.id(0x1000, &[1, 2, 3]);
        let shorter = blocks.id(0x1000, &[1, 2]);
        let other = blocks.id(0x2000, &[1, 2, 3]);
        assert!(one != shorter && shorter != other && other != one);
        assert_eq!(blocks.id(0x1000, &[1, 2, 3]), one);
        assert_eq!(blocks.id(0x1000, &[1, 2]), shorter);
        assert_eq!(blocks.get(one).instruction(2), 0x1003);
        assert_eq!(blocks.get(one).instruction(3), 0x1006);
    }

    #[test]
    fn what_finds_no_room_is_unknown() {
        let mut blocks = Blocks::default();
        for address in 2..BLOCKS_MAX as u64 {
            let id = blocks.id(address, &[1]);
            assert!(blocks.known(id).is_some());
        }
        for (address, in_kernel) in [(1, false), (1 << 63, true)] {
            let id = blocks.id(address, &[1]);
            assert_eq!((blocks.get(id).length(), blocks.get(id).is_kernel()), (0, in_kernel));
            assert!(blocks.known(id).is_none());
        }
    }

    #[test]
    fn blocks_before_and_after_know_that_faults_come_to_them() {
        let mut blocks = Blocks::default();
        let before = blocks.id(0x1000, &[1]);
        blocks.add_fault_entry(0x1000);
        let after = blocks.id(0x1000, &[1, 1]);
        assert!(blocks.get(before).fault_entry && blocks.get(after).fault_entry);
    }
}
