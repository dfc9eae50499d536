//! How this machine does when a kernel is compared with itself.

use jiff::Timestamp;
use measure::quantile::quantile;

use crate::comparison::{Against, Noise, Row, Verdict};

impl Noise {
    /// What comparisons of a kernel with itself gave, each made as others are made: by
    /// [`compare_timed`](crate::compare_timed) with the same design. Nothing if they have no metric.
    ///
    /// All that they call worse or better is a false alarm.
    #[must_use]
    pub fn of(comparisons: &[Against], measured: Timestamp) -> Option<Self> {
        let rows: Vec<&Row> = comparisons.iter().flat_map(|against| &against.rows).collect();
        let mut sizes: Vec<f64> = rows.iter().filter_map(|row| row.percent).map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let alarms =
            rows.iter().filter(|row| matches!(row.verdict, Verdict::Worse | Verdict::Better)).count();
        Some(Self {
            measured,
            floor: quantile(&sizes, 0.95)?,
            false_alarms: alarms as f64 / rows.len() as f64,
            comparisons: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        })
    }
}
