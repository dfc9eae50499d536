//! Things that belong together, pair by pair.

use std::collections::HashMap;
use std::hash::Hash;

/// Disjoint sets of the numbers below a limit.
pub(crate) struct Sets {
    above: Vec<usize>,
}

impl Sets {
    /// Each number is a set.
    pub(crate) fn new(count: usize) -> Self {
        Self { above: (0..count).collect() }
    }

    /// Each item is a number; items that have a name in common are in one set.
    pub(crate) fn named<N: Eq + Hash>(
        items: impl ExactSizeIterator<Item = impl IntoIterator<Item = N>>,
    ) -> Self {
        let mut sets = Self::new(items.len());
        let mut first: HashMap<N, usize> = HashMap::new();
        for (number, names) in items.enumerate() {
            for name in names {
                sets.join(*first.entry(name).or_insert(number), number);
            }
        }
        sets
    }

    /// The number that stands for the set of `number`.
    pub(crate) fn of(&mut self, mut number: usize) -> usize {
        while self.above[number] != number {
            self.above[number] = self.above[self.above[number]];
            number = self.above[number];
        }
        number
    }

    /// Makes one set of two.
    pub(crate) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.above[one.max(other)] = one.min(other);
    }
}
