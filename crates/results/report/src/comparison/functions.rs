//! The functions that make a difference.

use verdict::{Change, Why};

use crate::columns::fit;
use crate::figures::{count, whole};
use crate::safe::safe_line;

/// Functions that a person is shown without asking for all.
const LINES: usize = 6;

/// What the sum of all leaves open.
pub(super) fn sum(why: &Why) -> String {
    let rest = match why.unexplained {
        0 => "nothing unexplained".to_owned(),
        rest => format!("{} unexplained", whole(rest)),
    };
    format!("{}  in total, {rest}", whole(why.explained))
}

/// A line for each function, indented, and their sum; none wider than `width`.
pub(super) fn lines(why: &Why, width: usize, all: bool) -> Vec<String> {
    let shown = if all { why.functions.len() } else { LINES };
    let mut lines: Vec<String> = why.functions.iter().take(shown).map(line).collect();
    let rest = why.functions.get(shown..).unwrap_or_default();
    if !rest.is_empty() {
        let changes: i64 = rest.iter().map(Change::difference).fold(0, i64::saturating_add);
        lines.push(aligned(&whole(changes), &format!("{} more (--verbose)", rest.len())));
    }
    let sum = sum(why);
    let (together, text) = sum.split_once("  ").unwrap_or(("", &sum));
    lines.push(aligned(together, text));
    lines.iter().map(|line| fit(line, width)).collect()
}

fn line(change: &Change) -> String {
    let sides = match (change.base, change.new) {
        (Some(base), Some(new)) => format!("({} → {})", count(base), count(new)),
        (None, _) => "(new)".to_owned(),
        (_, None) => "(gone)".to_owned(),
    };
    aligned(&whole(change.difference()), &format!("{} {sides}", safe_line(&change.function)))
}

fn aligned(figure: &str, text: &str) -> String {
    format!("    {figure:>9}  {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(function: &str, base: Option<u64>, new: Option<u64>) -> Change {
        Change { function: function.into(), base, new }
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let functions = (0..20).map(|index| change(&format!("f{index}"), Some(1), Some(2))).collect();
        let why = Why { functions, explained: 20, unexplained: -1, stacks: Vec::new() };
        let few = lines(&why, 80, false);
        assert_eq!(few.len(), 8);
        assert_eq!(few[6].trim(), "+14  14 more (--verbose)");
        assert_eq!(few[7].trim(), "+20  in total, -1 unexplained");
        assert_eq!(lines(&why, 80, true).len(), 21);
    }

    #[test]
    fn figures_of_any_size_and_names_of_any_kind_are_borne() {
        let hostile = change(&format!("\x1b[2J{}", "f".repeat(10_000)), Some(u64::MAX), None);
        let functions = vec![hostile, change("g", None, Some(u64::MAX))];
        let why = Why { functions, explained: i64::MIN, unexplained: i64::MAX, stacks: Vec::new() };
        for line in lines(&why, 40, false) {
            assert!(line.chars().count() <= 40 && !line.contains('\x1b'), "{line:?}");
        }
    }
}
