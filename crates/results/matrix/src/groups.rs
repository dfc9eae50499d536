//! Rows that are alike are one, and what wants attention comes first.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cell::{Light, Mark};
use crate::grid::Grid;

/// Rows that show the same on each kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The numbers of the rows.
    pub rows: Vec<usize>,
    /// What each of them shows.
    pub marks: Vec<Option<Mark>>,
    /// The columns that show something else than the one before them, of the same flavour and parameters.
    pub changes: Vec<usize>,
    /// How much attention they want.
    pub light: Light,
}

/// The rows of a grid in groups: first those that change from one kernel to the next, the latest change first; then those that
/// fail, then the others that want attention.
#[must_use]
pub fn groups(grid: &Grid) -> Vec<Group> {
    let mut alike: BTreeMap<(bool, Vec<Option<Mark>>), Vec<usize>> = BTreeMap::new();
    for (number, row) in grid.rows.iter().enumerate() {
        alike.entry((!row.is_boot, row.marks())).or_default().push(number);
    }
    let mut groups: Vec<Group> =
        alike.into_iter().map(|((_, marks), rows)| Group::of(grid, marks, rows)).collect();
    groups.sort_by(|a, b| {
        let latest = |group: &Group| group.changes.last().copied();
        latest(b).cmp(&latest(a)).then_with(|| b.light.cmp(&a.light)).then_with(|| a.rows.cmp(&b.rows))
    });
    groups
}

impl Group {
    fn of(grid: &Grid, marks: Vec<Option<Mark>>, rows: Vec<usize>) -> Self {
        let changes = (1..marks.len()).filter(|&column| differs(grid, &marks, column)).collect();
        let of_cell = |(column, mark): (usize, &Option<Mark>)| match mark {
            Some(mark) => mark.light(&marks),
            // A case that did not run where others did.
            None if grid.is_tested(column) => Light::Amber,
            None => Light::Green,
        };
        let light = marks.iter().enumerate().map(of_cell).max().unwrap_or(Light::Green);
        Self { rows, changes, light, marks }
    }
}

/// Whether a column shows something else than the last one before it that shows anything.
fn differs(grid: &Grid, marks: &[Option<Mark>], column: usize) -> bool {
    let Some(mark) = marks[column] else { return false };
    let before = (0..column).rev().take_while(|&before| grid.are_comparable(before, column));
    before.filter_map(|before| marks[before]).next().is_some_and(|before| before != mark)
}

#[cfg(test)]
mod tests {
    use judge::Outcome;
    use proptest::prelude::*;

    use super::*;
    use crate::cell::Cell;
    use crate::grid::{Column, Row};

    /// A grid of rows as `name .F~`.
    fn grid(rows: &[&str], flavours: &[&str]) -> Grid {
        let columns = flavours.iter().enumerate().map(|(number, flavour)| Column {
            kernel: String::new(),
            release: format!("6.1.0-{number}-{flavour}"),
            parameters: String::new(),
        });
        let cell = |sign| {
            let (outcome, failures) = match sign {
                '.' => (Outcome::Pass, 0),
                'F' => (Outcome::Fail, 2),
                '~' => (Outcome::Fail, 1),
                's' => (Outcome::Skip, 0),
                'b' => (Outcome::Broken, 0),
                _ => return None,
            };
            Some(Cell { outcome, reason: String::new(), session: String::new(), runs: 2, failures })
        };
        let row = |text: &&str| {
            let (name, signs) = text.split_once(' ').expect("two words");
            Row { case: name.to_owned(), is_boot: name == "boot", cells: signs.chars().map(cell).collect() }
        };
        Grid {
            suite: "x".to_owned(),
            setting: String::new(),
            columns: columns.collect(),
            rows: rows.iter().map(row).collect(),
        }
    }

    fn names(grid: &Grid) -> Vec<(String, Light)> {
        let name = |group: &Group| {
            let names: Vec<&str> = group.rows.iter().map(|&row| grid.rows[row].case.as_str()).collect();
            (names.join(" "), group.light)
        };
        groups(grid).iter().map(name).collect()
    }

    #[test]
    fn what_changed_last_comes_first_and_what_is_alike_is_one() {
        let rows = [
            "a ....", "b ..FF", "c FFFF", "d .F..", "e ....", "f ssss", "g ...~", "h ..FF", "i ...s",
            "k bbbb",
        ];
        let found = names(&grid(&rows, &["amd64"; 4]));
        let expected = [
            ("g", Light::Amber),
            ("i", Light::Amber),
            ("d", Light::Red),
            ("b h", Light::Red),
            ("c", Light::Red),
            ("k", Light::Amber),
            ("a e", Light::Green),
            ("f", Light::Green),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (name, light) in expected {
            assert!(found.contains(&(name.to_owned(), light)), "{name}: {found:?}");
        }
        let place = |name: &str| found.iter().position(|(other, _)| other == name).expect("there");
        assert!(
            place("g") < place("d")
                && place("b h") < place("c")
                && place("c") < place("k")
                && place("k") < place("a e")
        );
    }

    #[test]
    fn a_kernel_that_was_not_tested_hides_no_change() {
        let grid = grid(&["a . F"], &["amd64"; 3]);
        assert_eq!(groups(&grid)[0].changes, [2]);
        let others = self::grid(&["a .FF"], &["amd64", "cloud", "cloud"]);
        assert_eq!(groups(&others)[0].changes, Vec::<usize>::new());
    }

    #[test]
    fn a_case_that_did_not_run_where_others_did_wants_attention() {
        let found = names(&grid(&["a .. ", "b .. ", "c ...", "d .  "], &["amd64"; 3]));
        assert!(found.contains(&("c".to_owned(), Light::Green)));
        assert!(
            found.contains(&("a b".to_owned(), Light::Amber))
                && found.contains(&("d".to_owned(), Light::Amber))
        );
    }

    proptest! {
        #[test]
        fn every_row_is_in_one_group(rows in prop::collection::vec("[a-c] [.F~sb ]{4}", 0..9)) {
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let grid = grid(&rows, &["amd64", "amd64", "cloud", "cloud"]);
            let mut all: Vec<usize> = groups(&grid).into_iter().flat_map(|group| group.rows).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..rows.len()).collect::<Vec<_>>());
        }
    }
}
