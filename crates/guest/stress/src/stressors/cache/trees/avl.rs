//! An AVL tree: the heights of two siblings differ by one at most.

use super::Tree;
use super::node::{self, has, in_order};

#[derive(Default)]
pub(super) struct Avl(Link);

type Link = node::Link<u8>;

/// What it knows besides is its height.
type Node = node::Node<u8>;

fn height(link: &Link) -> u8 {
    link.as_ref().map_or(0, |node| node.extra)
}

impl Node {
    fn measure(&mut self) {
        self.extra = 1 + height(&self.left).max(height(&self.right));
    }

    fn rotate_right(mut self: Box<Self>) -> Box<Self> {
        let Some(mut top) = self.left.take() else { return self };
        self.left = top.right.take();
        self.measure();
        top.right = Some(self);
        top.measure();
        top
    }

    fn rotate_left(mut self: Box<Self>) -> Box<Self> {
        let Some(mut top) = self.right.take() else { return self };
        self.right = top.left.take();
        self.measure();
        top.left = Some(self);
        top.measure();
        top
    }

    /// Makes the heights of its children differ by one at most.
    fn balance(mut self: Box<Self>) -> Box<Self> {
        self.measure();
        if height(&self.left) > height(&self.right) + 1 {
            let leans_right = |node: &Node| height(&node.right) > height(&node.left);
            self.left = self.left.map(|node| if leans_right(&node) { node.rotate_left() } else { node });
            return self.rotate_right();
        }
        if height(&self.right) > height(&self.left) + 1 {
            let leans_left = |node: &Node| height(&node.left) > height(&node.right);
            self.right = self.right.map(|node| if leans_left(&node) { node.rotate_right() } else { node });
            return self.rotate_left();
        }
        self
    }
}

fn added(link: Link, key: u64) -> Box<Node> {
    let Some(mut node) = link else { return Node::leaf(key, 1) };
    match key.cmp(&node.key) {
        std::cmp::Ordering::Less => node.left = Some(added(node.left.take(), key)),
        std::cmp::Ordering::Greater => node.right = Some(added(node.right.take(), key)),
        std::cmp::Ordering::Equal => {}
    }
    node.balance()
}

/// The tree without `key`, and whether that was there.
fn removed(link: Link, key: u64) -> (Link, bool) {
    let Some(mut node) = link else { return (None, false) };
    let was_there;
    match key.cmp(&node.key) {
        std::cmp::Ordering::Less => (node.left, was_there) = removed(node.left.take(), key),
        std::cmp::Ordering::Greater => (node.right, was_there) = removed(node.right.take(), key),
        std::cmp::Ordering::Equal => return (joined(node.left.take(), node.right.take()), true),
    }
    (Some(node.balance()), was_there)
}

/// Two trees with the least node of the second as their root.
fn joined(left: Link, right: Link) -> Link {
    let Some(right) = right else { return left };
    let (rest, mut root) = without_least(right);
    (root.left, root.right) = (left, rest);
    Some(root.balance())
}

fn without_least(mut node: Box<Node>) -> (Link, Box<Node>) {
    match node.left.take() {
        None => (node.right.take(), node),
        Some(left) => {
            let (rest, least) = without_least(left);
            node.left = rest;
            (Some(node.balance()), least)
        }
    }
}

impl Tree for Avl {
    fn add(&mut self, key: u64) {
        self.0 = Some(added(self.0.take(), key));
    }

    fn has(&mut self, key: u64) -> bool {
        has(&self.0, key)
    }

    fn remove(&mut self, key: u64) -> bool {
        let (tree, was_there) = removed(self.0.take(), key);
        self.0 = tree;
        was_there
    }

    fn in_order(&self) -> Vec<u64> {
        in_order(&self.0)
    }
}
