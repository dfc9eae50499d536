//! Rounds that something else disturbed: a thread lost its CPU in its section, or began it much later than planned.

use crate::round::Round;
use crate::sampler::Lengths;
use crate::statistics::Spread;

/// A section that takes so many times its median and [`GRACE`] was interrupted.
const TIMES: i64 = 4;

/// So long a section may be late in any case, in nanoseconds: an interrupt that leads to no other thread takes less.
pub(crate) const GRACE: u64 = 1000;

/// Whether a thread lost its CPU, or began its section much later than planned. `sum` is the length of both sections, and
/// `grace` [`GRACE`] in ticks.
pub(crate) fn is_late(round: &Round, sum: i64, grace: i64) -> bool {
    round.is_preempted || round.late > (sum / 4).saturating_add(grace)
}

/// Whether there was a gap in a section.
pub(crate) fn has_gap(round: &Round, lengths: &Lengths, grace: i64) -> bool {
    let longest = |section: Spread| section.median.saturating_mul(TIMES).saturating_add(grace);
    round.a.length() > longest(lengths.a) || round.b.length() > longest(lengths.b)
}

/// Gaps are disturbances only as long as they are the smaller part: else the sections have changed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Majority {
    /// How many more rounds with gaps than others there were lately.
    excess: u32,
}

impl Majority {
    const CHANGED: u32 = 32;

    /// Counts a round. Whether the sections have changed: then it begins anew.
    pub(crate) fn has_changed_with(&mut self, gap: bool) -> bool {
        self.excess = if gap { self.excess + 1 } else { self.excess.saturating_sub(1) };
        let has_changed = self.excess >= Self::CHANGED;
        if has_changed {
            self.excess = 0;
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: i64 = 1000;

    #[test]
    fn a_gap_in_a_section_disturbs_its_round() {
        let [a, b] = [20_000, 4_000].map(|median| Spread { median, deviation: 10 });
        let lengths = Lengths { a, b, ..Lengths::default() };
        let has_gap = |a: i64, b: i64| has_gap(&Round::simulated(0, (0, a), (0, b)), &lengths, GRACE);
        assert!(!has_gap(20_000, 4_000) && !has_gap(60_000, 16_000));
        assert!(has_gap(90_000, 4_000) && has_gap(20_000, 20_000));
    }

    #[test]
    fn so_do_a_late_start_and_a_preemption() {
        let regular = Round::simulated(0, (0, 20_000), (0, 4_000));
        let is_late = |round: Round| is_late(&round, 24_000, GRACE);
        assert!(!is_late(regular) && !is_late(Round { late: 5_000, ..regular }));
        assert!(is_late(Round { late: 8_000, ..regular }));
        assert!(is_late(Round { is_preempted: true, ..regular }));
    }

    #[test]
    fn sections_have_changed_when_most_rounds_have_gaps() {
        let mut majority = Majority::default();
        assert!(!(0..1000).any(|number| majority.has_changed_with(number % 2 == 0)));
        assert!((0..1000).any(|number| majority.has_changed_with(number % 3 > 0)));
    }
}
