//! The functions that make a difference.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use measure::{Detail, Measurement, Unit};

use crate::comparison::{Against, Change, Row, Verdict, Why};

/// The name for instructions outside the kernel.
const USER: &str = "[user space]";

/// What one operation executes differently on `new`, and how much of the measured `difference` (in instructions, without
/// a plugin) that is.
///
/// A compiler makes several functions of one: `foo.isra.0`, `foo.part.0`, `foo.cold`; and another kernel's compiler makes
/// others. No name in C has a dot, so what is behind it is left out, and all that was made of `foo` is `foo`.
#[must_use]
pub fn why(base: &Detail, new: &Detail, difference: i64) -> Why {
    let (before, after) = (functions(base), functions(new));
    let mut changes: Vec<Change> = both(&before, &after)
        .into_iter()
        .filter(|(_, base, new)| base != new)
        .map(|(function, base, new)| Change { function, base, new })
        .collect();
    changes.sort_by_key(|change| Reverse(change.difference().unsigned_abs()));
    let explained = changes.iter().map(Change::difference).fold(0, i64::saturating_add);
    let stacks = both(&stacks(base), &stacks(new));
    Why {
        functions: changes,
        explained,
        unexplained: difference.saturating_sub(explained),
        stacks: stacks.into_iter().map(|(it, base, new)| (it, base.unwrap_or(0), new.unwrap_or(0))).collect(),
    }
}

/// Names the functions behind each difference of instructions, as far as a plugin watched both.
pub fn explain(against: &mut Against, base: &Measurement, new: &Measurement) {
    let (before, after) = (base.details(), new.details());
    let differs = |row: &&mut Row| row.unit == Unit::Instructions && row.verdict != Verdict::Same;
    for row in against.rows.iter_mut().filter(differs) {
        let name = row.metric.as_str();
        #[expect(clippy::cast_possible_truncation, reason = "a count of instructions")]
        let difference = row.difference.round() as i64;
        let of_both = before.get(name).zip(after.get(name));
        row.why = of_both.map(|(before, after)| why(before, after, difference));
    }
}

type Counted = BTreeMap<String, u64>;

fn functions(detail: &Detail) -> Counted {
    let kernel = detail.functions.iter().map(|function| (in_source(&function.name), function.instructions));
    summed(kernel.chain([(USER.to_string(), detail.user)]))
}

fn stacks(detail: &Detail) -> Counted {
    summed(detail.stacks.iter().cloned())
}

fn summed(counts: impl Iterator<Item = (String, u64)>) -> Counted {
    let mut all = Counted::new();
    for (name, count) in counts.filter(|&(_, count)| count > 0) {
        let sum = all.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
    all
}

/// The function in the source that this symbol was made of, with its module.
fn in_source(symbol: &str) -> String {
    let (name, module) = symbol.split_once(' ').unwrap_or((symbol, ""));
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    if module.is_empty() { name.to_string() } else { format!("{name} {module}") }
}

/// Everything that either has, by name.
fn both(base: &Counted, new: &Counted) -> Vec<(String, Option<u64>, Option<u64>)> {
    let only_new = new.keys().filter(|name| !base.contains_key(*name));
    let mut names: Vec<&String> = base.keys().chain(only_new).collect();
    names.sort_unstable();
    let row = |name: &String| (name.clone(), base.get(name).copied(), new.get(name).copied());
    names.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use measure::Function;
    use proptest::prelude::*;

    use super::*;

    fn detail(user: u64, functions: &[(&str, u64)]) -> Detail {
        let functions = functions.iter();
        let functions: Vec<Function> = functions
            .map(|&(name, instructions)| Function { name: name.to_string(), instructions, calls: 1 })
            .collect();
        Detail {
            user,
            kernel: functions.iter().map(|it| it.instructions).sum(),
            functions,
            stacks: Vec::new(),
        }
    }

    fn changes(why: &Why) -> Vec<(&str, Option<u64>, Option<u64>)> {
        why.functions.iter().map(|it| (it.function.as_str(), it.base, it.new)).collect()
    }

    #[test]
    fn the_largest_change_comes_first_and_equal_functions_are_left_out() {
        let base = detail(20, &[("gained", 10), ("lost", 50), ("gone", 7), ("equal", 9)]);
        let new = detail(20, &[("gained", 13), ("lost", 10), ("new", 100), ("equal", 9)]);
        let why = why(&base, &new, 60);
        assert_eq!(
            changes(&why),
            [
                ("new", None, Some(100)),
                ("lost", Some(50), Some(10)),
                ("gone", Some(7), None),
                ("gained", Some(10), Some(13)),
            ]
        );
        assert_eq!((why.explained, why.unexplained), (56, 4));
    }

    #[test]
    fn what_a_compiler_made_of_one_function_is_one() {
        let base = detail(0, &[("foo.isra.0", 10), ("foo.cold", 2), ("bar [ext4]", 3)]);
        let new = detail(0, &[("foo", 12), ("bar.constprop.0 [ext4]", 4), ("bar", 1)]);
        assert_eq!(
            changes(&why(&base, &new, 2)),
            [("bar", None, Some(1)), ("bar [ext4]", Some(3), Some(4)),]
        );
    }

    #[test]
    fn instructions_of_user_space_explain_as_well() {
        let why = why(&detail(20, &[]), &detail(25, &[]), 5);
        assert_eq!(changes(&why), [(USER, Some(20), Some(25))]);
        assert_eq!(why.unexplained, 0);
    }

    #[test]
    fn stacks_of_both_stand_side_by_side() {
        let with = |stacks: &[(&str, u64)]| Detail {
            stacks: stacks.iter().map(|&(stack, count)| (stack.to_string(), count)).collect(),
            ..Detail::default()
        };
        let why = why(&with(&[("a;b", 1), ("a", 2)]), &with(&[("a", 3), ("c", 4)]), 0);
        let expected = [("a", 2, 3), ("a;b", 1, 0), ("c", 0, 4)];
        assert_eq!(why.stacks, expected.map(|(stack, base, new)| (stack.to_string(), base, new)));
    }

    proptest! {
        #[test]
        fn the_changes_add_up(
            base in proptest::collection::vec(("[ab](\\.cold)?", 0u64..9), 0..6),
            new in proptest::collection::vec(("[bc](\\.isra\\.0)?", 0u64..9), 0..6),
            users in (0u64..9, 0u64..9),
        ) {
            let make = |user, functions: &[(String, u64)]| {
                detail(user, &functions.iter().map(|(name, count)| (name.as_str(), *count)).collect::<Vec<_>>())
            };
            let (base, new) = (make(users.0, &base), make(users.1, &new));
            let total = |detail: &Detail| i64::try_from(detail.user + detail.kernel).unwrap();
            let why = why(&base, &new, total(&new) - total(&base));
            prop_assert_eq!(why.unexplained, 0);
        }
    }
}
