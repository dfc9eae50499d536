//! What is alike is shown once.

use std::cmp::Reverse;

/// Things that are alike, in the order in which they came.
pub(super) struct Group<'a, T> {
    pub(super) first: &'a T,
    /// The first one, too.
    pub(super) all: Vec<&'a T>,
}

/// Those of a list, the most frequent first.
pub(super) fn groups<T>(list: &[T], is_alike: fn(&T, &T) -> bool) -> Vec<Group<'_, T>> {
    let mut groups: Vec<Group<'_, T>> = Vec::new();
    for one in list {
        match groups.iter_mut().find(|group| is_alike(group.first, one)) {
            Some(group) => group.all.push(one),
            None => groups.push(Group { first: one, all: vec![one] }),
        }
    }
    groups.sort_by_key(|group| Reverse(group.all.len()));
    groups
}
