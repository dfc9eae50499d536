//! The calls of all samples, counted: a tree from threads to where they were.

use std::collections::HashMap;
use std::sync::Arc;

use unwind::Code;

/// Nodes at most: what goes on beyond stays where it is.
const NODES_MAX: usize = 1 << 20;

/// What is at a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A thread of this name.
    Thread(String),
    /// An address of a file, by its place among those of the tree.
    File(usize, u64),
    /// Code of a program that is in no file.
    Unknown,
    /// An address of the kernel.
    Kernel(u64),
}

/// A place as it was come to in one way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) caller: Option<u32>,
    /// By its place among those of the tree.
    pub(crate) place: usize,
    /// Samples that ended here.
    pub(crate) own: u64,
}

/// A file with code, and what it is called.
pub(crate) type File = (Arc<str>, Arc<Code>);

/// The tree: each node comes after its caller.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) places: Vec<Place>,
    pub(crate) files: Vec<File>,
    by_caller: HashMap<(Option<u32>, usize), u32>,
    by_place: HashMap<Place, usize>,
    by_file: HashMap<*const Code, usize>,
}

impl Tree {
    /// The number of a file.
    pub(crate) fn file(&mut self, name: &Arc<str>, code: &Arc<Code>) -> usize {
        // The tree holds it, so that no other one gets its address.
        *self.by_file.entry(Arc::as_ptr(code)).or_insert_with(|| {
            self.files.push((name.clone(), code.clone()));
            self.files.len() - 1
        })
    }

    /// Counts a sample, whose places are given from the thread to where it was.
    pub(crate) fn add(&mut self, places: impl IntoIterator<Item = Place>) {
        let mut at = None;
        for place in places {
            let Some(node) = self.node(at, place) else { break };
            at = Some(node);
        }
        if let Some(node) = at.and_then(|at| self.nodes.get_mut(at as usize)) {
            node.own += 1;
        }
    }

    fn node(&mut self, caller: Option<u32>, place: Place) -> Option<u32> {
        let known = self.by_place.get(&place).copied();
        let place = known.unwrap_or_else(|| {
            self.places.push(place.clone());
            self.by_place.insert(place, self.places.len() - 1);
            self.places.len() - 1
        });
        if let Some(known) = self.by_caller.get(&(caller, place)) {
            return Some(*known);
        }
        // A thread has a node of its own: all samples are in the tree.
        if self.nodes.len() >= NODES_MAX && caller.is_some() {
            return None;
        }
        let node = u32::try_from(self.nodes.len()).ok()?;
        self.nodes.push(Node { caller, place, own: 0 });
        self.by_caller.insert((caller, place), node);
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_come_the_same_way_are_one_node() {
        let mut tree = Tree::default();
        let thread = || Place::Thread("load".to_owned());
        tree.add([thread(), Place::Kernel(1), Place::Kernel(2)]);
        tree.add([thread(), Place::Kernel(1), Place::Kernel(2)]);
        tree.add([thread(), Place::Kernel(1)]);
        tree.add([thread(), Place::Kernel(2)]);
        let nodes: Vec<_> = tree.nodes.iter().map(|node| (node.caller, node.place, node.own)).collect();
        assert_eq!(nodes, [(None, 0, 0), (Some(0), 1, 1), (Some(1), 2, 2), (Some(0), 2, 1)]);
    }

    #[test]
    fn no_sample_is_lost_where_there_is_no_room() {
        let mut tree = Tree::default();
        let all = NODES_MAX as u64 + 10;
        (0..all).for_each(|at| tree.add([Place::Thread("load".to_owned()), Place::Kernel(at)]));
        assert_eq!(tree.nodes.len(), NODES_MAX);
        assert_eq!(tree.nodes.iter().map(|node| node.own).sum::<u64>(), all);
    }
}
