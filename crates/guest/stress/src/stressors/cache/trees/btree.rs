//! The B-tree of the standard library.

use std::collections::BTreeSet;

use super::Tree;

#[derive(Default)]
pub(super) struct BTree(BTreeSet<u64>);

impl Tree for BTree {
    fn add(&mut self, key: u64) {
        self.0.insert(key);
    }

    fn has(&mut self, key: u64) -> bool {
        self.0.contains(&key)
    }

    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(&key)
    }

    fn in_order(&self) -> Vec<u64> {
        self.0.iter().copied().collect()
    }
}
