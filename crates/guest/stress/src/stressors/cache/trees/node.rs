//! The nodes of binary search trees.

/// A node, with what its kind of tree knows of it besides.
pub(super) struct Node<Extra = ()> {
    pub(super) key: u64,
    pub(super) extra: Extra,
    pub(super) left: Link<Extra>,
    pub(super) right: Link<Extra>,
}

pub(super) type Link<Extra = ()> = Option<Box<Node<Extra>>>;

impl<Extra> Node<Extra> {
    /// A node without children.
    pub(super) fn leaf(key: u64, extra: Extra) -> Box<Self> {
        Box::new(Self { key, extra, left: None, right: None })
    }
}

/// Whether a tree has `key`.
pub(super) fn has<Extra>(root: &Link<Extra>, key: u64) -> bool {
    let mut next = root;
    while let Some(node) = next {
        if node.key == key {
            return true;
        }
        next = if key < node.key { &node.left } else { &node.right };
    }
    false
}

/// Keys of a tree in their order, without recursion: a tree of one's own worst case is as deep as it is large.
pub(super) fn in_order<Extra>(root: &Link<Extra>) -> Vec<u64> {
    let (mut found, mut above, mut next) = (Vec::new(), Vec::new(), root);
    loop {
        while let Some(node) = next {
            above.push(node);
            next = &node.left;
        }
        let Some(node) = above.pop() else { return found };
        found.push(node.key);
        next = &node.right;
    }
}
