//! Where the sides of a metric lie on an axis.

use measure::Kind;
use verdict::Row;

use crate::comparison::rows::is_spread;
use crate::scale::{Scale, span};

/// How far an axis goes beyond the medians to show a range, in widths of theirs.
const REACH: f64 = 3.0;

/// What shows both sides of a row. Ranges are followed only so far: one repetition that took thousand times as
/// long would leave no room for the rest.
pub(super) fn scale(row: &Row, kind: Kind) -> Scale {
    let sides = [&row.base, &row.new];
    let medians = sides.iter().flat_map(|side| side.boots.iter().copied().chain([side.median]));
    let band = band(row).map(|(low, high)| [low, high]).into_iter().flatten();
    let (low, high) = span(medians.chain(band));
    let width = (high - low).max(0.002 * high.abs()).max(f64::MIN_POSITIVE);
    let reach = if kind != Kind::Timed { REACH * width } else { 0.0 };
    let ranges = sides.iter().flat_map(|side| [side.min, side.max]);
    let (low, high) = span(ranges.map(|value| value.clamp(low - reach, high + reach)).chain([low, high]));
    Scale::between(low, high, width)
}

/// Where the median of the other lies by the interval of the difference.
pub(super) fn band(row: &Row) -> Option<(f64, f64)> {
    let (low, high) = row.interval?;
    let of = |percent: f64| row.base.median + row.base.median.abs() * percent / 100.0;
    (low.is_finite() && high.is_finite()).then(|| (of(low), of(high)))
}

/// Whether there is something to see: two sides that are one point are said in words.
pub(super) fn is_worth_showing(row: &Row) -> bool {
    let values = [row.base.min, row.base.max, row.new.min, row.new.max, row.base.median, row.new.median];
    let is_finite = values.iter().chain(&row.base.boots).chain(&row.new.boots).all(|value| value.is_finite());
    is_finite && (is_spread(&row.base) || is_spread(&row.new) || row.base.median != row.new.median)
}
