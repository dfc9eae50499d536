//! Which lines of the console belong to which test.

use std::ops::Range;

use crate::ktap::Test;

/// The lines of a test that belong to no test inside.
pub(super) fn own_lines(lines: &Range<u64>, inside: &[Test]) -> Vec<Range<u64>> {
    outside(lines, &inside.iter().map(|test| test.lines.clone()).collect::<Vec<_>>())
}

/// What is left of `whole` without `parts`, which are in order.
pub(super) fn outside(whole: &Range<u64>, parts: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut start = whole.start;
    let mut left = Vec::new();
    for part in parts {
        left.push(start..part.start.max(start));
        start = start.max(part.end);
    }
    left.push(start..whole.end.max(start));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_without_the_tests_is_in_order() {
        let tests = vec![2_u64..4, 4..6];
        assert_eq!(outside(&(0..10), &tests), [0..2, 4..4, 6..10]);
        assert_eq!(outside(&(5..6), &tests[..1]), [5..5, 5..6]);
        assert_eq!(outside(&(1..3), &tests), [1..2, 4..4, 6..6]);
    }
}
