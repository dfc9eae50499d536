//! The kind of a counted metric, and the ground of its verdict, in words.

use measure::Unit;
use verdict::{Ground, Row, Side, Steadiness};

use crate::figures::figure;

/// `constant`, `varies by ±8 in 5 boots`; nothing for times that kiln takes, `timed` for what an experiment samples.
pub(super) fn kind(row: &Row) -> String {
    match row.steadiness {
        None if matches!(row.unit, Unit::Own(_)) && row.unit.is_timed() => "timed".to_owned(),
        None => String::new(),
        Some(Steadiness::Constant) => "constant".to_owned(),
        Some(Steadiness::Varying) => varies([&row.base, &row.new], &row.unit),
    }
}

/// Half of the range of the boots of one Kernel, the one whose boots differ more.
fn varies(sides: [&Side; 2], unit: &Unit) -> String {
    let range = |side: &Side| {
        let boots = side.boots.iter().copied();
        boots.clone().fold(f64::NEG_INFINITY, f64::max) - boots.fold(f64::INFINITY, f64::min)
    };
    let [base, new] = sides;
    let side = if range(new) > range(base) { new } else { base };
    format!("varies by ±{} in {} boots", figure(range(side) / 2.0, unit), side.boots.len())
}

/// The kind in one word, for programs.
pub(super) fn kind_name(row: &Row) -> &'static str {
    match row.steadiness {
        None => "",
        Some(Steadiness::Constant) => "constant",
        Some(Steadiness::Varying) => "varying",
    }
}

/// The ground in one word, for programs.
pub(super) fn ground_name(row: &Row) -> &'static str {
    match row.ground {
        None => "",
        Some(Ground::Code) => "code",
        Some(Ground::Size) => "size",
        Some(Ground::Boots) => "boots",
        Some(Ground::Operation) => "operation",
    }
}

/// Why the difference is no chance: half a sentence.
pub(super) fn ground(row: &Row) -> Option<&'static str> {
    row.ground.map(|ground| match ground {
        Ground::Code => "functions whose code differs cause it",
        Ground::Size => "it is far larger than the noise between boots",
        Ground::Boots => "chance rarely separates so many boots like this",
        Ground::Operation => "the cost of the operation differs as well",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(boots: &[f64]) -> Side {
        Side { min: 0.0, median: 0.0, max: 0.0, boots: boots.to_vec(), apart: None }
    }

    #[test]
    fn the_kernel_whose_boots_differ_more_is_told_of() {
        let text = varies([&side(&[5118.0, 5134.0]), &side(&[5120.0; 5])], &Unit::Instructions);
        assert_eq!(text, "varies by ±8 in 2 boots");
        let text = varies([&side(&[7.0, 7.0]), &side(&[7.0, 8.0, 7.0])], &Unit::Instructions);
        assert_eq!(text, "varies by ±0.5 in 3 boots");
    }
}
