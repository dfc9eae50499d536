//! Which delays were tried: the range in equal parts, and whether a round lay in each.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::*};

use protocol::race::Range;

const WORDS: usize = 64;

/// Parts of the range.
pub(crate) const PARTS: usize = WORDS * 64;

/// A range of delays in nanoseconds, and its parts. All zeroes is one that is not known yet.
#[derive(Debug)]
pub(crate) struct Coverage {
    from: AtomicI64,
    to: AtomicI64,
    parts: [AtomicU64; WORDS],
}

impl Coverage {
    /// Begins anew with another range.
    pub(crate) fn begin(&self, from: i64, to: i64) {
        self.from.store(from, Relaxed);
        self.to.store(to, Relaxed);
        self.parts.iter().for_each(|part| part.store(0, Relaxed));
    }

    /// A round lay at `delay`.
    pub(crate) fn visit(&self, delay: i64) {
        let (from, to) = (self.from.load(Relaxed), self.to.load(Relaxed));
        if (from..to).contains(&delay) {
            let part = u128::from(delay.abs_diff(from)) * PARTS as u128 / u128::from(to.abs_diff(from));
            let part = part as usize;
            self.parts[part / 64].fetch_or(1 << (part % 64), Relaxed);
        }
    }

    /// The range and how much of it was visited; nothing before it is known.
    pub(crate) fn range(&self) -> Option<Range> {
        let (from_ns, to_ns) = (self.from.load(Relaxed), self.to.load(Relaxed));
        let (mut visited, mut gap, mut widest_gap) = (0, 0, 0);
        for part in 0..PARTS {
            let is_visited = self.parts[part / 64].load(Relaxed) >> (part % 64) & 1 == 1;
            visited += u32::from(is_visited);
            gap = if is_visited { 0 } else { gap + 1 };
            widest_gap = widest_gap.max(gap);
        }
        (from_ns < to_ns).then_some(Range { from_ns, to_ns, parts: PARTS as u32, visited, widest_gap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::{LowDiscrepancy, between};

    fn unknown() -> Coverage {
        Coverage {
            from: AtomicI64::new(0),
            to: AtomicI64::new(0),
            parts: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    #[test]
    fn nothing_is_known_at_first() {
        assert_eq!(unknown().range(), None);
        unknown().visit(0);
    }

    #[test]
    fn each_part_counts_once() {
        let coverage = unknown();
        coverage.begin(-8192, 8192);
        [-8192, -8191, 8191, 8192, -8193, i64::MAX].iter().for_each(|&delay| coverage.visit(delay));
        let range = coverage.range().expect("it is known");
        assert_eq!((range.visited, range.widest_gap, range.parts), (2, PARTS as u32 - 2, PARTS as u32));
        coverage.begin(0, 1);
        assert_eq!(coverage.range().map(|range| range.visited), Some(0));
    }

    #[test]
    fn a_low_discrepancy_sequence_visits_all_before_long() {
        let (coverage, mut sequence) = (unknown(), LowDiscrepancy::new(1));
        coverage.begin(-5_000_000, 20_000_000);
        (0..3 * PARTS).for_each(|_| coverage.visit(between(-5_000_000, 20_000_000, sequence.next())));
        let range = coverage.range().expect("it is known");
        assert_eq!((range.visited, range.widest_gap), (PARTS as u32, 0));
    }

    #[test]
    fn extreme_ranges_do_no_harm() {
        let coverage = unknown();
        coverage.begin(i64::MIN, i64::MAX);
        [i64::MIN, 0, i64::MAX - 1].iter().for_each(|&delay| coverage.visit(delay));
        assert_eq!(coverage.range().map(|range| range.visited), Some(3));
    }
}
