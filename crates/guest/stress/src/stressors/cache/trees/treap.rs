//! A treap: a tree by its keys, and a heap by a priority that the key's hash gives.

use super::Tree;
use super::node::{Link, Node, has, in_order};
use harness::random::mix;

#[derive(Default)]
pub(super) struct Treap(Link);

fn priority(node: &Node) -> u64 {
    mix(node.key)
}

/// Parts a tree into keys below `key`, and the others.
fn split(link: Link, key: u64) -> (Link, Link) {
    let Some(mut node) = link else { return (None, None) };
    if node.key < key {
        let (low, high) = split(node.right.take(), key);
        node.right = low;
        (Some(node), high)
    } else {
        let (low, high) = split(node.left.take(), key);
        node.left = high;
        (low, Some(node))
    }
}

/// Joins two trees of which all keys of the first are below those of the second.
fn join(low: Link, high: Link) -> Link {
    match (low, high) {
        (None, other) | (other, None) => other,
        (Some(mut low), Some(mut high)) => {
            if priority(&low) > priority(&high) {
                low.right = join(low.right.take(), Some(high));
                Some(low)
            } else {
                high.left = join(Some(low), high.left.take());
                Some(high)
            }
        }
    }
}

impl Treap {
    /// Keys below `key`, `key` itself, and those above.
    fn part(&mut self, key: u64) -> (Link, Link, Link) {
        let (low, rest) = split(self.0.take(), key);
        match key.checked_add(1) {
            Some(next) => {
                let (middle, high) = split(rest, next);
                (low, middle, high)
            }
            None => (low, rest, None),
        }
    }
}

impl Tree for Treap {
    fn add(&mut self, key: u64) {
        let (low, middle, high) = self.part(key);
        let middle = middle.or_else(|| Some(Node::leaf(key, ())));
        self.0 = join(join(low, middle), high);
    }

    fn has(&mut self, key: u64) -> bool {
        has(&self.0, key)
    }

    fn remove(&mut self, key: u64) -> bool {
        let (low, middle, high) = self.part(key);
        self.0 = join(low, high);
        middle.is_some()
    }

    fn in_order(&self) -> Vec<u64> {
        in_order(&self.0)
    }
}
