//! What makes a difference between the boots of two Kernels one between the Kernels.

use crate::comparison::{Row, Side};

/// Differences from this fraction of the base on may be certain by their size. In 80 boots of Linux 6.1 with as many
/// seeds the boots of one operation of 254 lay further apart; see `docs/statistics.md`.
pub const SIZE_MIN: f64 = 0.01;

/// They are if they are so many times as large as what the boots of one Kernel differ by among each other.
pub const SPREADS_MIN: f64 = 10.0;

/// And so many times as large, as a fraction of the base, as what the boots of one Kernel differ by in any metric: the boots
/// of one metric may agree by chance, those of all may not.
pub const LOUDEST_MIN: f64 = 2.0;

/// The boots of two Kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Boots {
    base: (f64, f64),
    new: (f64, f64),
    /// By how much repetitions in the boots of one Kernel differ; of two Kernels the larger.
    repetitions: f64,
}

impl Boots {
    /// Those of a row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        let repetitions = |side: &Side| side.max - side.min;
        let repetitions = repetitions(&row.base).max(repetitions(&row.new));
        Self { base: range(&row.base), new: range(&row.new), repetitions }
    }

    /// How far the nearest boots are apart, and in which direction: above 0 where the new Kernel costs more, below 0 where
    /// it costs less. Nothing where the boots overlap or touch.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let (more, less) = (self.new.0 - self.base.1, self.new.1 - self.base.0);
        if more > 0.0 { Some(more) } else { Some(less).filter(|&less| less < 0.0) }
    }

    /// By how much the boots of a Kernel differ among each other; of two Kernels the larger.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.base.1 - self.base.0).max(self.new.1 - self.new.0)
    }

    /// Whether each boot of a Kernel gave the same figure, on both.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.spread() == 0.0
    }
}

/// The largest spread of any row, as a fraction of its base.
#[must_use]
pub fn loudest<'a>(rows: impl IntoIterator<Item = &'a Row>) -> f64 {
    let spreads = rows.into_iter().map(|row| Boots::of(row).spread() / row.base.median.abs());
    spreads.filter(|spread| spread.is_finite()).fold(0.0, f64::max)
}

/// Whether a gap is certain by its size alone: far larger than the noise of this metric and of the `loudest` one, and at least
/// as large as what repetitions differ by. The medians of a few boots may agree by chance where their repetitions do not.
#[must_use]
pub fn is_certain_by_size(boots: &Boots, base: f64, loudest: f64) -> bool {
    let size = boots.gap().map_or(0.0, f64::abs);
    let fraction = SIZE_MIN.max(LOUDEST_MIN * loudest);
    size >= fraction * base.abs() && size >= SPREADS_MIN * boots.spread() && size >= boots.repetitions
}

/// Whether a gap comes from what changed code executes more, in instructions: that has its direction, is more than noise, and
/// at least half of it.
#[must_use]
pub fn is_certain_by_code(boots: &Boots, changed: i64) -> bool {
    let changed = changed as f64;
    let comes_from_it = |gap: f64| gap.signum() == changed.signum() && 2.0 * changed.abs() >= gap.abs();
    boots.gap().is_some_and(comes_from_it) && changed.abs() > boots.spread()
}

fn range(side: &Side) -> (f64, f64) {
    let boots = side.boots.iter().copied();
    (boots.clone().fold(f64::INFINITY, f64::min), boots.fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boots(base: (f64, f64), new: (f64, f64)) -> Boots {
        Boots { base, new, repetitions: 0.0 }
    }

    #[test]
    fn a_gap_is_between_the_nearest_boots() {
        assert_eq!(boots((10.0, 12.0), (15.0, 15.0)).gap(), Some(3.0));
        assert_eq!(boots((15.0, 15.0), (10.0, 12.0)).gap(), Some(-3.0));
        assert_eq!(boots((10.0, 12.0), (12.0, 14.0)).gap(), None);
        assert_eq!(boots((10.0, 12.0), (15.0, 15.0)).spread(), 2.0);
    }

    #[test]
    fn size_is_a_ground_only_far_beyond_the_noise() {
        let certain = |base, new| is_certain_by_size(&boots(base, new), 1000.0, 0.001);
        assert!(certain((1000.0, 1000.0), (1010.0, 1010.0)));
        assert!(certain((1000.0, 1000.0), (990.0, 990.0)));
        assert!(!certain((1000.0, 1000.0), (1009.0, 1009.0)));
        assert!(!certain((1000.0, 1002.0), (1021.0, 1021.0)));
        assert!(certain((1000.0, 1002.0), (1022.0, 1022.0)));
        assert!(!certain((1000.0, 1002.0), (1001.0, 1050.0)));
        let beside =
            |loudest| is_certain_by_size(&boots((1000.0, 1000.0), (1030.0, 1030.0)), 1000.0, loudest);
        assert!(beside(0.015) && !beside(0.016));
    }

    /// As `memory/mremap-move-1m` had them: two boots agree in most pairs, and their repetitions never do.
    #[test]
    fn size_is_no_ground_below_what_repetitions_differ_by() {
        let certain = |repetitions| {
            let boots = Boots { repetitions, ..boots((26_844.0, 26_844.0), (26_400.0, 26_400.0)) };
            is_certain_by_size(&boots, 26_844.0, 0.001)
        };
        assert!(certain(444.0) && !certain(1627.0));
    }

    #[test]
    fn changed_code_is_a_ground_in_its_direction_and_beyond_the_noise() {
        let by = |new, changed| is_certain_by_code(&boots((100.0, 100.0), (new, new)), changed);
        assert!(by(101.0, 1) && by(99.0, -3) && by(104.0, 2));
        assert!(!by(101.0, -1) && !by(100.0, 1) && !by(101.0, 0) && !by(105.0, 2));
        let noisy = boots((100.0, 104.0), (110.0, 110.0));
        assert!(is_certain_by_code(&noisy, 5) && !is_certain_by_code(&noisy, 4));
    }
}
