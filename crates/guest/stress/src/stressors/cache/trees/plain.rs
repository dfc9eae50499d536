//! A binary tree that is not balanced.

use super::Tree;
use super::node::{Link, Node, in_order};

#[derive(Default)]
pub(super) struct Plain(Link);

impl Plain {
    /// Where `key` is, or where it would be.
    fn place(&mut self, key: u64) -> &mut Link {
        let mut link = &mut self.0;
        while link.as_ref().is_some_and(|node| node.key != key) {
            let Some(node) = link else { break };
            link = if key < node.key { &mut node.left } else { &mut node.right };
        }
        link
    }
}

impl Tree for Plain {
    fn add(&mut self, key: u64) {
        self.place(key).get_or_insert_with(|| Node::leaf(key, ()));
    }

    fn has(&mut self, key: u64) -> bool {
        self.place(key).is_some()
    }

    fn remove(&mut self, key: u64) -> bool {
        let link = self.place(key);
        let Some(mut node) = link.take() else { return false };
        *link = match (node.left.take(), node.right.take()) {
            (None, other) | (other, None) => other,
            (left, Some(right)) => {
                let (mut least, rest) = take_least(right);
                (least.left, least.right) = (left, rest);
                Some(least)
            }
        };
        true
    }

    fn in_order(&self) -> Vec<u64> {
        in_order(&self.0)
    }
}

/// The least node of a tree, and the tree without it.
fn take_least(mut root: Box<Node>) -> (Box<Node>, Link) {
    match root.left.take() {
        None => {
            let rest = root.right.take();
            (root, rest)
        }
        Some(left) => {
            let (least, rest) = take_least(left);
            root.left = rest;
            (least, Some(root))
        }
    }
}
