//! Where figures lie on an axis.

use measure::Unit;

use crate::figures::{grouped, time_unit};
use crate::html::Percent;

/// Marks of an axis at most, beyond which they would touch on a telephone.
const TICKS: f64 = 4.0;

/// Part of an axis that stays free at each end.
const MARGIN: f64 = 0.06;

/// A range of figures that is shown in the whole width or height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// What shows all that lies between two figures, and is at least so wide.
    pub(crate) fn between(low: f64, high: f64, width: f64) -> Self {
        let margin = MARGIN * (high - low).max(width);
        Self { low: low - margin, high: high + margin }
    }

    /// Where a figure lies; what is beyond the ends lies at the end.
    pub(crate) fn at(self, value: f64) -> Percent {
        let share = (value - self.low) / (self.high - self.low);
        Percent(if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 })
    }

    pub(crate) fn is_below(self, value: f64) -> bool {
        value < self.low
    }

    pub(crate) fn is_above(self, value: f64) -> bool {
        value > self.high
    }

    /// Round figures along the axis with their texts.
    pub(crate) fn ticks(self, unit: &Unit) -> Vec<(f64, String)> {
        let step = step((self.high - self.low) / TICKS, unit);
        let first = (self.low / step).ceil();
        let (length, name) = match unit {
            Unit::Nanoseconds => time_unit(self.high),
            Unit::Instructions | Unit::Count | Unit::Own(_) => (1.0, ""),
        };
        let decimals = decimals(step / length);
        let text = |value: f64| format!("{} {name}", grouped(value / length, decimals)).trim().to_owned();
        (0..=8_u32)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|value| *value <= self.high)
            .map(|value| (value, text(value)))
            .collect()
    }
}

/// The smallest and the largest of some figures.
pub(crate) fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// The next of 1, 2, 5, 10, 20 ... that is not less than `least`; counts have no fractions.
fn step(least: f64, unit: &Unit) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let step = round.into_iter().find(|step| *step >= least).unwrap_or(least);
    match unit {
        Unit::Nanoseconds | Unit::Own(_) => step,
        Unit::Instructions | Unit::Count => step.max(1.0),
    }
}

/// Decimals that tell one step from the next.
fn decimals(step: f64) -> usize {
    (0..6).find(|decimals| step >= 10_f64.powi(-decimals) * 0.999).map_or(6, i32::unsigned_abs) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, unit: &Unit) -> Vec<String> {
        Scale { low, high }.ticks(unit).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_differ() {
        assert_eq!(texts(5_719.0, 5_733.0, &Unit::Instructions), ["5,720", "5,725", "5,730"]);
        assert_eq!(texts(2.2, 4.9, &Unit::Count), ["3", "4"]);
        assert_eq!(texts(12_341.0, 12_346.0, &Unit::Nanoseconds), ["12.342 µs", "12.344 µs", "12.346 µs"]);
        assert_eq!(texts(0.0, 0.0, &Unit::Count).len(), 1);
    }

    #[test]
    fn what_lies_beyond_is_shown_at_the_end() {
        let scale = Scale { low: 10.0, high: 20.0 };
        assert_eq!([5.0, 10.0, 15.0, 1e9].map(|value| scale.at(value).0), [0.0, 0.0, 50.0, 100.0]);
        assert!(scale.is_below(5.0) && scale.is_above(1e9) && !scale.is_above(20.0));
    }
}
