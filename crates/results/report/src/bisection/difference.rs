//! What one kernel log has and another has not.

use std::collections::HashMap;
use std::ops::Range;

use judge::Run;
use judge::noise::is_noise;
use judge::signature::masked;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::safe::safe;

/// Lines of each log that are compared at most: as many as a Run keeps of records.
const COMPARED: usize = 2_000;

/// Lines that differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Each with its sign: `-` where only the first log has it, `+` where only the second does.
    pub(super) lines: Vec<(char, String)>,
    /// Lines that were left out.
    pub(super) more: usize,
}

/// What differs between the logs of two Runs, at most `most` lines of it. Lines that differ in nothing but numbers
/// and addresses are the same. What both logs have and only in another order is left out: drivers are probed side by
/// side, and the order of their lines changes from boot to boot.
pub(super) fn between(first: &Run, second: &Run, most: usize) -> Difference {
    let (first, second) = (lines(first), lines(second));
    let mut known = HashMap::new();
    let mut numbered = |lines: &[String]| -> Vec<usize> {
        let next = |line: &String| {
            let number = known.len();
            *known.entry(masked(line)).or_insert(number)
        };
        lines.iter().map(next).collect()
    };
    let (a, b) = (numbered(&first), numbered(&second));
    let edits = without_moves(edits(&a, &b), &a, &b).into_iter().map(|edit| match edit {
        Edit::Removed(at) => ('-', first[at].clone()),
        Edit::Added(at) => ('+', second[at].clone()),
    });
    let mut lines: Vec<(char, String)> = edits.collect();
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    Difference { lines, more }
}

/// The lines of a log that may have to do with the case, safe to print; their times are no part of it.
fn lines(run: &Run) -> Vec<String> {
    let records = run.log.iter().filter(|record| !is_noise(&record.text));
    let texts = records.flat_map(|record| {
        safe(&record.text).lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    });
    texts.filter(|line| !line.is_empty()).take(COMPARED).collect()
}

/// A line that has no partner, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Removed(usize),
    Added(usize),
}

/// What must be removed from `a` and added to it to get `b`.
fn edits(a: &[usize], b: &[usize]) -> Vec<Edit> {
    let both = |(tag, old, new): (DiffTag, Range<usize>, Range<usize>)| {
        let changed = if tag == DiffTag::Equal { (0..0, 0..0) } else { (old, new) };
        changed.0.map(Edit::Removed).chain(changed.1.map(Edit::Added))
    };
    let operations = capture_diff_slices(Algorithm::Myers, a, b);
    operations.iter().map(DiffOp::as_tag_tuple).flat_map(both).collect()
}

/// Edits without the lines that are removed in one place and added in another.
fn without_moves(mut edits: Vec<Edit>, a: &[usize], b: &[usize]) -> Vec<Edit> {
    let place = |edit: &Edit| match edit {
        Edit::Removed(at) => (a[*at], 0),
        Edit::Added(at) => (b[*at], 1),
    };
    let mut counts: HashMap<usize, [usize; 2]> = HashMap::new();
    for (line, side) in edits.iter().map(place) {
        counts.entry(line).or_default()[side] += 1;
    }
    // Only as many have moved as there are on both sides.
    for sides in counts.values_mut() {
        *sides = [sides[0].min(sides[1]); 2];
    }
    edits.retain(|edit| {
        let (line, side) = place(edit);
        let moved = counts.get_mut(&line).map(|sides| &mut sides[side]).filter(|moved| **moved > 0);
        moved.map(|moved| *moved -= 1).is_none()
    });
    edits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::KernelRecord;

    use super::*;

    fn run(lines: &[&str]) -> Run {
        let record = |(at, line): (u64, &&str)| KernelRecord {
            sequence: at,
            time_us: at * 1_000,
            level: 6,
            text: (*line).to_owned(),
        };
        Run { log: (0..).zip(lines).map(record).collect(), ..Run::unstarted() }
    }

    fn shown(first: &[&str], second: &[&str], most: usize) -> (String, usize) {
        let Difference { lines, more } = between(&run(first), &run(second), most);
        (lines.iter().map(|(sign, line)| format!("{sign}{line}\n")).collect(), more)
    }

    #[test]
    fn numbers_make_no_difference() {
        let (text, more) = shown(
            &["loop0: 128 blocks", "probe ok", "eth0: up"],
            &["loop1: 256 blocks", "probe failed\nat 0xffff888100a0b0c0", "eth0: up"],
            40,
        );
        assert_eq!((text.as_str(), more), ("-probe ok\n+probe failed\n+at 0xffff888100a0b0c0\n", 0));
        assert_eq!(shown(&["a 1"], &["a 2"], 40), (String::new(), 0));
        let clock = "clocksource: Switched to clocksource tsc";
        assert_eq!(shown(&["a"], &["a", clock], 40), (String::new(), 0), "what any kernel says");
        assert_eq!(shown(&[], &["\x1b[2Ja", "b", "c"], 1), ("+a\n".into(), 2));
    }

    #[test]
    fn lines_that_only_moved_make_no_difference() {
        assert_eq!(shown(&["a", "b", "c"], &["b", "c", "a"], 40), (String::new(), 0));
        let (text, _) = shown(&["a", "b", "x", "a"], &["b", "y", "a", "y"], 40);
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["+y", "+y", "-a", "-x"]);
    }

    #[test]
    fn the_longest_logs_are_borne() {
        let (old, new): (Vec<String>, Vec<String>) =
            (0..3_000).map(|at| ("a".repeat(at % 97 + 1), "a".repeat(at % 89 + 1))).unzip();
        let refs = |lines: &'_ [String]| run(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let Difference { lines, more } = between(&refs(&old), &refs(&new), 40);
        assert_eq!(lines.len(), 40);
        assert!(more > 0 && more <= 2 * COMPARED);
    }

    proptest! {
        #[test]
        fn edits_turn_one_into_the_other(
            a in prop::collection::vec(0..4_usize, 0..20), b in prop::collection::vec(0..4_usize, 0..20),
        ) {
            let edits = edits(&a, &b);
            let removed: Vec<usize> =
                edits.iter().filter_map(|edit| if let Edit::Removed(at) = edit { Some(*at) } else { None }).collect();
            let added: Vec<usize> =
                edits.iter().filter_map(|edit| if let Edit::Added(at) = edit { Some(*at) } else { None }).collect();
            let without = |all: &[usize], gone: &[usize]| -> Vec<usize> {
                all.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, value)| *value).collect()
            };
            prop_assert_eq!(without(&a, &removed), without(&b, &added));
            prop_assert_eq!(edits.is_empty(), a == b);
        }
    }
}
