//! Figures as text.

use measure::Unit;

/// Units of time with their length in nanoseconds, the longest first.
const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// What stands for a figure that is none.
const NONE: &str = "-";

/// The name of a unit in documents for programs.
pub(crate) fn unit(unit: &Unit) -> &str {
    match unit {
        Unit::Own(own) => &own.name,
        Unit::Instructions => "instructions",
        Unit::Nanoseconds => "nanoseconds",
        Unit::Count => "count",
    }
}

/// A figure: `5,732`, `1.234 µs`.
pub(crate) fn figure(value: f64, unit: &Unit) -> String {
    match unit {
        _ if !value.is_finite() => NONE.to_owned(),
        Unit::Nanoseconds => time(value),
        // Its unit stands with its name.
        Unit::Own(_) => number(value),
        // A median of an even number may lie half between two counts.
        Unit::Instructions | Unit::Count if value.fract() == 0.0 => grouped(value, 0),
        Unit::Instructions | Unit::Count => grouped(value, 1),
    }
}

/// A figure of any size, with four digits that count: `5,732`, `0.2500`, `1.234e-7`.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => grouped(value, 0),
        size if size < 1e-3 => format!("{value:.3e}"),
        size if size < 0.99995 => grouped(value, 4),
        _ => grouped(value, decimals(value)),
    }
}

/// Decimals of a value from 1 on, so that four digits count.
fn decimals(value: f64) -> usize {
    match value.abs() {
        0.0 => 0,
        size if size < 9.9995 => 3,
        size if size < 99.995 => 2,
        _ => 1,
    }
}

/// A difference: `+16`, `-1.20 µs`, `0`.
pub(crate) fn difference(value: f64, unit: &Unit) -> String {
    with_sign(value, figure(value, unit))
}

/// A difference of counted instructions.
pub(crate) fn whole(value: i64) -> String {
    let sign = if value > 0 { "+" } else { "" };
    sign.to_owned() + &group(&value.to_string())
}

/// A count: `1,320`.
pub(crate) fn count(value: u64) -> String {
    group(&value.to_string())
}

/// Percent without their sign, to the hundredth: `+0.38`, `0.00`. What would be rounded to nothing is not nothing:
/// `+<0.01`.
pub(crate) fn percent(value: f64) -> String {
    match value {
        _ if !value.is_finite() => NONE.to_owned(),
        0.0 => "0.00".to_owned(),
        _ if value.abs() < 0.005 => with_sign(value, "<0.01".to_owned()),
        _ => with_sign(value, grouped(value, 2)),
    }
}

/// An interval of percent: `+0.31 to +0.92`.
pub(crate) fn interval((low, high): (f64, f64)) -> String {
    format!("{} to {}", percent(low), percent(high))
}

/// A probability to the thousandth: `0.012`, `<0.001`.
pub(crate) fn probability(p: f64) -> String {
    match p {
        _ if !p.is_finite() => NONE.to_owned(),
        _ if p < 0.001 => "<0.001".to_owned(),
        _ => format!("{p:.3}"),
    }
}

/// Nanoseconds with four digits that count.
fn time(nanoseconds: f64) -> String {
    let (length, name) = time_unit(nanoseconds);
    let value = nanoseconds / length;
    format!("{} {name}", grouped(value, decimals(value)))
}

/// The unit in which a time reads best: its length in nanoseconds, and its name.
pub(crate) fn time_unit(nanoseconds: f64) -> (f64, &'static str) {
    let size = nanoseconds.abs();
    let suits = |length: f64| size >= length * 0.99995;
    TIMES.into_iter().find(|(length, _)| suits(*length)).unwrap_or((1.0, "ns"))
}

/// A figure with so many decimals and its thousands set apart.
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", group(whole)),
        None => group(&text),
    }
}

/// Digits, maybe with a sign, with commas.
fn group(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `text` of `value` with a plus if that is what it is.
fn with_sign(value: f64, text: String) -> String {
    match value {
        _ if value > 0.0 => format!("+{text}"),
        _ if value < 0.0 && !text.starts_with('-') => format!("-{text}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_have_their_thousands_set_apart() {
        let texts =
            [0.0, 327.0, 5_732.0, 25_537.5, 1_234_567.0].map(|value| figure(value, &Unit::Instructions));
        assert_eq!(texts, ["0", "327", "5,732", "25,537.5", "1,234,567"]);
        let texts = [16.0, -10.0, 0.0, -1_000.0].map(|value| difference(value, &Unit::Count));
        assert_eq!(texts, ["+16", "-10", "0", "-1,000"]);
        assert_eq!([whole(1_320), whole(-7), whole(0), whole(i64::MIN)].join(" "), {
            "+1,320 -7 0 -9,223,372,036,854,775,808"
        });
    }

    #[test]
    fn figures_of_experiments_keep_four_digits() {
        let texts = [0.0, 12_345.0, 0.25, 0.001_234_56, 1.234e-7, 941.26, 1234.56].map(number);
        assert_eq!(texts, ["0", "12,345", "0.2500", "0.0012", "1.234e-7", "941.3", "1,234.6"]);
    }

    #[test]
    fn times_choose_their_unit_and_keep_four_digits() {
        let texts = [0.0, 3.25, 327.0, 999.96, 1_234.0, 12_345.0, 999_999.0, 5e9, 7.2e12]
            .map(|value| figure(value, &Unit::Nanoseconds));
        let wanted = [
            "0 ns",
            "3.250 ns",
            "327.0 ns",
            "1.000 µs",
            "1.234 µs",
            "12.35 µs",
            "1.000 ms",
            "5.000 s",
            "7,200.0 s",
        ];
        assert_eq!(texts, wanted);
        assert_eq!(difference(-16.0, &Unit::Nanoseconds), "-16.00 ns");
    }

    #[test]
    fn a_small_difference_is_not_rounded_to_none() {
        let texts = [0.0, 0.377, -0.174, 0.004, -0.001, 1_250.0, f64::NAN].map(percent);
        assert_eq!(texts, ["0.00", "+0.38", "-0.17", "+<0.01", "-<0.01", "+1,250.00", "-"]);
        assert_eq!(interval((-0.2, 0.915)), "-0.20 to +0.92");
        assert_eq!([1.0, 0.0123, 0.0004].map(probability), ["1.000", "0.012", "<0.001"]);
    }

    proptest! {
        #[test]
        fn whatever_comes_has_a_text(value in any::<f64>()) {
            for unit in &[Unit::Instructions, Unit::Nanoseconds, Unit::Count] {
                prop_assert!(!figure(value, unit).is_empty());
                prop_assert!(!difference(value, unit).contains("+-"));
            }
            prop_assert!(!percent(value).is_empty());
        }

        #[test]
        fn commas_are_all_that_is_added(value in any::<u64>()) {
            prop_assert_eq!(count(value).replace(',', ""), value.to_string());
        }
    }
}
