//! `tree`: search trees of several kinds.

mod avl;
mod btree;
mod node;
mod plain;
mod splay;
mod treap;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::stressor::{Class, Setting, Stressor, choice, number};
use harness::random::mix;

const METHOD: Setting =
    choice("method", "kind of the tree", &["all", "avl", "binary", "btree", "splay", "treap"]);
const SIZE: Setting = number("size", "keys", 1000..=250_000, 25_000);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "tree",
    classes: &[Class::CpuCache, Class::Cpu, Class::Memory],
    about: "search trees with keys of 64 bits",
    operation: "all keys added, found and removed",
    verifies: "each key is found once added and not once removed; the tree is ordered",
    options: &[METHOD, SIZE],
    body,
    ..Stressor::PLAIN
};

/// A set of keys.
trait Tree {
    fn add(&mut self, key: u64);
    /// A splay tree changes when it is searched.
    fn has(&mut self, key: u64) -> bool;
    fn remove(&mut self, key: u64) -> bool;
    fn in_order(&self) -> Vec<u64>;
}

type Make = fn() -> Box<dyn Tree>;

const METHODS: &[(&str, Make)] = &[
    ("avl", || Box::new(avl::Avl::default())),
    ("binary", || Box::new(plain::Plain::default())),
    ("btree", || Box::new(btree::BTree::default())),
    ("splay", || Box::new(splay::Splay::default())),
    ("treap", || Box::new(treap::Treap::default())),
];

fn body(worker: &Worker) -> Checked {
    let methods = worker.methods(&METHOD, METHODS);
    let mut next = methods.iter().cycle();
    let keys: Vec<u64> =
        (0..worker.value(&SIZE)).map(|number| mix(number ^ worker.random().next_u64())).collect();
    worker.repeat(|| next.next().map_or(Ok(()), |(_, make)| grow_and_shrink(make().as_mut(), &keys)))
}

fn grow_and_shrink(tree: &mut dyn Tree, keys: &[u64]) -> Checked {
    keys.iter().for_each(|&key| tree.add(key));
    equal("keys found", keys.iter().filter(|&&key| tree.has(key)).count(), keys.len())?;
    let ordered = tree.in_order();
    holds("the tree is ordered", ordered.len() == keys.len() && ordered.is_sorted())?;
    let (gone, kept) = keys.split_at(keys.len() / 2);
    equal("keys removed", gone.iter().filter(|&&key| tree.remove(key)).count(), gone.len())?;
    equal("removed keys found", gone.iter().filter(|&&key| tree.has(key)).count(), 0)?;
    equal("kept keys found", kept.iter().filter(|&&key| tree.has(key)).count(), kept.len())?;
    equal("keys removed", kept.iter().filter(|&&key| tree.remove(key)).count(), kept.len())?;
    holds("the tree is empty", tree.in_order().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use harness::random::Random;

    #[test]
    fn every_tree_is_a_set() {
        for (name, make) in METHODS {
            let (mut tree, mut set, mut random) = (make(), BTreeSet::new(), Random::new(1));
            for _ in 0..2000 {
                let key = random.below(100) as u64;
                match random.below(3) {
                    0 => {
                        tree.add(key);
                        set.insert(key);
                    }
                    1 => assert_eq!(tree.has(key), set.contains(&key), "{name}"),
                    _ => assert_eq!(tree.remove(key), set.remove(&key), "{name}"),
                }
                assert_eq!(tree.in_order(), set.iter().copied().collect::<Vec<_>>(), "{name}");
            }
        }
    }
}
