//! The functions of the kernel in which a counted metric differs.

use std::collections::BTreeMap;

use super::sides::Sides;
use crate::figures::{count, whole};
use crate::safe::safe_line;

/// Functions that are shown.
const SHOWN: usize = 12;

/// A line for each function whose instructions differ between both sides, the largest difference first.
pub(super) fn functions(sides: Sides<'_>) -> Vec<String> {
    changed(sides).into_iter().map(|(name, sides)| line(name, sides)).collect()
}

/// The functions whose instructions differ, with these, the largest difference first.
pub(super) fn changed(sides: Sides<'_>) -> Vec<(&str, [u64; 2])> {
    let mut all: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, state) in [sides.without, sides.with].into_iter().enumerate() {
        for function in &state.evidence.functions {
            all.entry(&function.name).or_default()[side] += function.instructions;
        }
    }
    if sides.without.evidence.functions.is_empty() || sides.with.evidence.functions.is_empty() {
        return Vec::new();
    }
    let mut changed: Vec<_> = all.into_iter().filter(|(_, [old, new])| old != new).collect();
    changed.sort_by_key(|(name, [old, new])| (std::cmp::Reverse(old.abs_diff(*new)), *name));
    changed.truncate(SHOWN);
    changed
}

fn line(name: &str, [old, new]: [u64; 2]) -> String {
    let change = match (old, new) {
        (0, _) => "new".to_string(),
        (_, 0) => "gone".to_string(),
        _ => format!("{} to {}", count(old), count(new)),
    };
    let difference =
        i64::try_from(new).unwrap_or(i64::MAX).saturating_sub(i64::try_from(old).unwrap_or(i64::MAX));
    format!("{:>8}  {} ({change})", whole(difference), safe_line(name))
}
