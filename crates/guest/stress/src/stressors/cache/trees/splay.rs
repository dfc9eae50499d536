//! A splay tree: what was searched last is the root.

use super::Tree;
use super::node::{Link, Node, in_order};

#[derive(Default)]
pub(super) struct Splay {
    root: Link,
}

/// Brings the node with `key`, or the last on the way to it, to the top: Sleator and Tarjan's splaying from the top down.
fn splay(root: Link, key: u64) -> Link {
    let mut top = root?;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    loop {
        if key < top.key {
            let Some(mut next) = top.left.take() else { break };
            if key < next.key {
                top.left = next.right.take();
                next.right = Some(top);
                top = next;
                let Some(below) = top.left.take() else { break };
                next = below;
            }
            high.push(top);
            top = next;
        } else if key > top.key {
            let Some(mut next) = top.right.take() else { break };
            if key > next.key {
                top.right = next.left.take();
                next.left = Some(top);
                top = next;
                let Some(below) = top.right.take() else { break };
                next = below;
            }
            low.push(top);
            top = next;
        } else {
            break;
        }
    }
    top.left = low.into_iter().rev().fold(top.left.take(), |right, mut node| {
        node.right = right;
        Some(node)
    });
    top.right = high.into_iter().rev().fold(top.right.take(), |left, mut node| {
        node.left = left;
        Some(node)
    });
    Some(top)
}

impl Splay {
    fn splay(&mut self, key: u64) -> bool {
        self.root = splay(self.root.take(), key);
        self.root.as_ref().is_some_and(|root| root.key == key)
    }
}

impl Tree for Splay {
    fn add(&mut self, key: u64) {
        if self.splay(key) {
            return;
        }
        let mut node = Node::leaf(key, ());
        if let Some(mut root) = self.root.take() {
            if root.key < key {
                node.right = root.right.take();
                node.left = Some(root);
            } else {
                node.left = root.left.take();
                node.right = Some(root);
            }
        }
        self.root = Some(node);
    }

    fn has(&mut self, key: u64) -> bool {
        self.splay(key)
    }

    fn remove(&mut self, key: u64) -> bool {
        if !self.splay(key) {
            return false;
        }
        let Some(mut root) = self.root.take() else { return false };
        let right = root.right.take();
        // The largest below `key` comes to the top, and has nothing on its right.
        self.root = match splay(root.left.take(), key) {
            Some(mut left) => {
                left.right = right;
                Some(left)
            }
            None => right,
        };
        true
    }

    fn in_order(&self) -> Vec<u64> {
        in_order(&self.root)
    }
}

/// A tree can be as deep as it has keys: too deep for dropping by recursion.
impl Drop for Splay {
    fn drop(&mut self) {
        let mut rest: Vec<_> = self.root.take().into_iter().collect();
        while let Some(mut node) = rest.pop() {
            rest.extend(node.left.take());
            rest.extend(node.right.take());
        }
    }
}
