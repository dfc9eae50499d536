//! How long threads ran.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Threads that are named at most.
pub const THREADS_MAX: usize = 16;

/// How long a thread ran, or all of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ThreadTime {
    /// Its name.
    pub name: String,
    /// How long.
    pub ns: u64,
    /// It can run on other CPUs, too, so that this may be more than it ran on this one.
    pub at_most: bool,
}

impl ThreadTime {
    /// Those of the same name together, and of these the ones that ran the longest.
    #[must_use]
    pub fn longest(threads: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut by_name: BTreeMap<String, Self> = BTreeMap::new();
        for thread in threads {
            let known = by_name.entry(thread.name.clone()).or_insert(Self { ns: 0, ..thread });
            known.ns = known.ns.saturating_add(thread.ns);
            known.at_most |= thread.at_most;
        }
        let mut all: Vec<Self> = by_name.into_values().collect();
        all.sort_by_key(|thread| std::cmp::Reverse(thread.ns));
        all.truncate(THREADS_MAX);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_name_are_one() {
        let thread = |name: &str, ns, at_most| ThreadTime { name: name.to_owned(), ns, at_most };
        let threads = [thread("a", 3, false), thread("b", 4, false), thread("a", 2, true)];
        assert_eq!(ThreadTime::longest(threads), [thread("a", 5, true), thread("b", 4, false)]);
        let many = (0..40).map(|number| thread(&number.to_string(), number, false));
        assert_eq!(ThreadTime::longest(many).len(), THREADS_MAX);
    }
}
