//! Times and lists of CPUs.

use protocol::stress::request::CPUS_MAX;

use crate::cpu_list;

/// The units of a time, in milliseconds, the shortest first.
const UNITS: [(&str, u64); 5] =
    [("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("y", 31_536_000_000)];

/// Reads `60s`, `1.5m`, `2h`, `1d`, `1y`; a bare number is seconds. Gives milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = Some(&text[number.len()..]).filter(|unit| !unit.is_empty()).unwrap_or("s");
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 3 {
        return None;
    }
    let thousandths = fraction.parse::<u64>().ok()? * 10_u64.pow(3 - u32::try_from(fraction.len()).ok()?);
    let whole = whole.parse::<u64>().ok()?.checked_mul(*factor)?;
    whole.checked_add(thousandths * factor / 1000)
}

/// Writes a time with the largest unit in which it is a whole number, or in seconds.
pub(super) fn time(milliseconds: u64) -> String {
    let fits = |(_, factor): &&(&str, u64)| milliseconds > 0 && milliseconds.is_multiple_of(*factor);
    match UNITS.iter().rfind(fits) {
        Some((unit, factor)) => format!("{}{unit}", milliseconds / factor),
        None => format!("{}.{:03}s", milliseconds / 1000, milliseconds % 1000),
    }
}

/// Reads `1,3,5-7`: a set.
pub(super) fn cpus(text: &str) -> Option<Vec<u32>> {
    let mut all = cpu_list::read(text, CPUS_MAX)?;
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// Writes them one by one.
pub(super) fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
