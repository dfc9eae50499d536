//! Frames that wait for their time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// Bytes of waiting frames of a segment at most: 64 MiB, which is half a second of a full gigabit link.
const BYTES_MAX: usize = 64 << 20;

/// What a waiting frame costs beside its bytes.
const OVERHEAD: usize = 96;

/// Waiting frames with what is to happen to each, the earliest first; equally early ones in the order in which they came.
#[derive(Debug)]
pub(crate) struct Held<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    bytes: usize,
    pushed: u64,
}

#[derive(Debug)]
struct Entry<T> {
    due: Duration,
    number: u64,
    frame: Box<[u8]>,
    what: T,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), bytes: 0, pushed: 0 }
    }
}

impl<T> Held<T> {
    /// Keeps a frame; false if there is no room for it.
    #[must_use]
    pub(crate) fn push(&mut self, due: Duration, frame: &[u8], what: T) -> bool {
        let bytes = self.bytes + frame.len() + OVERHEAD;
        if bytes > BYTES_MAX {
            return false;
        }
        self.bytes = bytes;
        self.heap.push(Reverse(Entry { due, number: self.pushed, frame: frame.into(), what }));
        self.pushed += 1;
        true
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        Some(self.heap.peek()?.0.due)
    }

    /// The next one that is due at `at`.
    pub(crate) fn pop(&mut self, at: Duration) -> Option<(Box<[u8]>, T)> {
        self.next().filter(|due| *due <= at)?;
        let Reverse(Entry { frame, what, .. }) = self.heap.pop()?;
        self.bytes = self.bytes.saturating_sub(frame.len() + OVERHEAD);
        Some((frame, what))
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (Duration, u64) {
        (self.due, self.number)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_earliest_comes_first_and_equals_come_in_turn() {
        let mut held = Held::default();
        for (due, what) in [(3, 'c'), (1, 'a'), (3, 'd'), (2, 'b')] {
            assert!(held.push(due * MS, b"x", what));
        }
        assert_eq!((held.next(), held.len()), (Some(MS), 4));
        let mut pop = |at: u32| held.pop(at * MS).map(|(_, what)| what);
        assert_eq!([pop(0), pop(2), pop(2), pop(2)], [None, Some('a'), Some('b'), None]);
        assert_eq!([pop(3), pop(9), pop(9)], [Some('c'), Some('d'), None]);
    }

    #[test]
    fn its_bytes_are_limited() {
        let mut held = Held::default();
        let frame = vec![0; 1 << 20];
        let kept = (0..100).filter(|_| held.push(MS, &frame, ())).count();
        assert_eq!(kept, 63);
        assert!(held.pop(MS).is_some() && held.push(MS, &frame, ()));
    }
}
