//! How often each block was executed in a repetition.

use crate::blocks::Id;
use crate::hash::Table;
use crate::stacks::Chain;

/// Counts by the calls that led to a block. Without calls all is one chain, which a block's number finds without a hash:
/// this is done for each block that the kernel executes.
#[derive(Debug, Default)]
pub struct Executions {
    /// Of the first chain, by the numbers of the blocks.
    first: Vec<u32>,
    /// The blocks that are not 0 there.
    touched: Vec<Id>,
    /// Of all others.
    others: Table<(Chain, Id), u32>,
}

/// The chain without calls.
const FIRST: Chain = 0;

impl Executions {
    /// Counts one, unless the block would be one more than `limit`.
    pub fn add(&mut self, chain: Chain, id: Id, limit: usize) {
        let has_room = self.touched.len() + self.others.len() < limit;
        if chain != FIRST {
            if has_room || self.others.contains_key(&(chain, id)) {
                let count = self.others.entry((chain, id)).or_default();
                *count = count.saturating_add(1);
            }
            return;
        }
        let place = id as usize;
        if place >= self.first.len() {
            self.first.resize(place + 1, 0);
        }
        let count = &mut self.first[place];
        if *count == 0 {
            if !has_room {
                return;
            }
            self.touched.push(id);
        }
        *count = count.saturating_add(1);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        for id in self.touched.drain(..) {
            self.first[id as usize] = 0;
        }
        self.others.clear();
    }

    /// All that was counted, in the order of chains and blocks.
    #[must_use]
    pub fn sorted(&self) -> Vec<(Chain, Id, u32)> {
        let first = self.touched.iter().map(|&id| (FIRST, id, self.first[id as usize]));
        let others = self.others.iter().map(|(&(chain, id), &count)| (chain, id, count));
        let mut all: Vec<_> = first.chain(others).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_by_chain_until_there_is_no_room() {
        let mut executions = Executions::default();
        for (chain, id) in [(0, 9), (2, 9), (0, 3), (0, 9), (2, 9), (0, 5), (3, 1), (2, 9)] {
            executions.add(chain, id, 3);
        }
        assert_eq!(executions.sorted(), [(0, 3, 1), (0, 9, 2), (2, 9, 3)]);
        executions.clear();
        assert!(executions.sorted().is_empty());
        executions.add(0, 9, 3);
        assert_eq!(executions.sorted(), [(0, 9, 1)]);
    }
}
