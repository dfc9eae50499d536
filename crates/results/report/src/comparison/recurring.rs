//! Functions that changed in several operations: often one change of a kernel is behind many differences.

use std::collections::BTreeMap;

use verdict::{Against, Change, Row};

use crate::figures::{percent, whole};

/// Operations in which a function must have changed.
const OPERATIONS: usize = 3;

/// Functions that a person is shown without asking for all.
pub(super) const LINES: usize = 12;

/// What stands above them.
pub(super) const TITLE: &str = "Functions that changed in several operations";

/// The heads of their columns.
pub(super) const HEAD: [&str; 5] = ["FUNCTION", "OPERATIONS", "CHANGE", "AT MOST, %", "OF"];

/// A function, and what it does to operations.
pub(super) struct Recurring<'a> {
    function: &'a str,
    operations: usize,
    /// The least and the most that it executes more in one operation.
    range: (i64, i64),
    /// The largest of its changes in percent of the operation on the base, and which operation that is.
    most: (f64, &'a str),
    /// The sizes of all of these together: a little in many operations weighs as much as a lot in few.
    weight: f64,
}

/// Those that weigh most first.
pub(super) fn recurring(against: &Against) -> Vec<Recurring<'_>> {
    let mut all: BTreeMap<&str, Recurring<'_>> = BTreeMap::new();
    for row in &against.rows {
        for change in row.why.iter().flat_map(|why| &why.functions) {
            let one = Recurring::of(change, row);
            match all.get_mut(change.function.as_str()) {
                Some(recurring) => recurring.add(&one),
                None => drop(all.insert(&change.function, one)),
            }
        }
    }
    let mut all: Vec<Recurring<'_>> = all.into_values().filter(|it| it.operations >= OPERATIONS).collect();
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    all
}

impl<'a> Recurring<'a> {
    fn of(change: &'a Change, row: &'a Row) -> Self {
        let difference = change.difference();
        #[expect(clippy::cast_precision_loss, reason = "a part in percent")]
        let part = 100.0 * difference as f64 / row.base.median.max(1.0);
        Self {
            function: &change.function,
            operations: 1,
            range: (difference, difference),
            most: (part, &row.metric),
            weight: part.abs(),
        }
    }

    fn add(&mut self, one: &Self) {
        self.operations += one.operations;
        self.weight += one.weight;
        self.range = (self.range.0.min(one.range.0), self.range.1.max(one.range.1));
        if one.most.0.abs() > self.most.0.abs() {
            self.most = one.most;
        }
    }

    /// The texts of its columns.
    pub(super) fn texts(&self) -> [String; 5] {
        let (low, high) = self.range;
        let range = if low == high { whole(low) } else { format!("{} to {}", whole(low), whole(high)) };
        let (part, metric) = self.most;
        [self.function.to_owned(), self.operations.to_string(), range, percent(part), metric.to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use measure::{Subject, Unit};
    use verdict::{Side, Verdict, Why};

    use super::*;

    fn row(metric: &str, base: f64, functions: &[(&str, u64, u64)]) -> Row {
        let side = Side { min: base, median: base, max: base, boots: vec![base], apart: None };
        let change = |&(name, base, new): &(&str, u64, u64)| Change {
            function: name.into(),
            base: Some(base),
            new: Some(new),
        };
        Row {
            metric: metric.into(),
            about: String::new(),
            unit: Unit::Instructions,
            base: side.clone(),
            new: side,
            difference: 1.0,
            percent: Some(1.0),
            interval: None,
            p: None,
            verdict: Verdict::Worse,
            steadiness: None,
            ground: None,
            why: Some(Why { functions: functions.iter().map(change).collect(), ..Why::default() }),
        }
    }

    #[test]
    fn what_weighs_most_comes_first() {
        let rows = vec![
            row("a/one", 1_000.0, &[("often", 1, 2), ("thrice", 8, 1), ("seldom", 1, 900)]),
            row("a/two", 100.0, &[("often", 1, 2), ("thrice", 8, 1)]),
            row("a/three", 10_000.0, &[("often", 1, 41), ("thrice", 8, 1)]),
            row("a/four", 0.0, &[("often", 3, 1)]),
        ];
        let against = Against { subject: Subject::default(), rows, missing: Vec::new(), runs: None };
        let texts: Vec<_> = recurring(&against).iter().map(|it| it.texts().join("|")).collect();
        assert_eq!(texts, ["often|4|-2 to +40|-200.00|a/four", "thrice|3|-7|-7.00|a/two"]);
    }
}
