//! What a package says is new in it.

use std::collections::BTreeSet;

use bisect::Changes;

use super::relevance::closest;
use crate::columns::{fit, hanging};
use crate::figures::count;
use crate::safe::safe_line;

/// Changes of a text at most, of all candidates together.
const SHOWN: usize = 12;

/// Columns of a version at most.
const VERSION: usize = 40;

/// Columns of a change at most: with a reference to a CVE few have more than 110.
const CHANGE: usize = 240;

/// The changes of one candidate, as far as a text has room for them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// How many there are, and which stand below.
    pub(super) head: String,
    /// All, if they are few; else those that are closest to the question.
    pub(super) entries: Vec<String>,
    /// How many are left out.
    pub(super) more: usize,
}

/// An excerpt of the changes of one of so many `candidates`: those closest to some words come first. None if no change
/// is known.
pub(super) fn excerpt(words: &BTreeSet<String>, changes: &Changes, candidates: usize) -> Option<Excerpt> {
    if changes.is_empty() {
        return None;
    }
    let most = (SHOWN / candidates.max(1)).max(1);
    let is_whole = changes.count() <= most;
    let numbers: Vec<usize> = match is_whole {
        true => (0..changes.entries.len()).collect(),
        false => closest(words, &changes.entries).into_iter().take(most).collect(),
    };
    let entries: Vec<String> = numbers.into_iter().map(|number| entry(&changes.entries[number])).collect();
    let which = match (entries.is_empty(), is_whole) {
        (true, _) => "",
        (false, true) => ":",
        (false, false) => "; most relevant:",
    };
    let more = changes.count() - entries.len();
    Some(Excerpt { head: format!("{}{which}", total(changes)), entries, more })
}

/// `1,204 since 6.1.176-1 (stable 6.1.177 to 6.1.180)`
#[must_use]
pub fn total(changes: &Changes) -> String {
    let version = |text: &String| fit(&safe_line(text), VERSION);
    let number = count(u64::try_from(changes.count()).unwrap_or(u64::MAX));
    let stable = match &changes.stable[..] {
        [] => String::new(),
        releases => format!(" (stable {})", releases.iter().map(version).collect::<Vec<_>>().join(" to ")),
    };
    format!("{number} since {}{stable}", version(&changes.since))
}

/// A change as an item of a list that begins in column `indent`, in lines of at most `columns`.
pub(super) fn item(entry: &str, indent: usize, columns: usize) -> Vec<String> {
    hanging(&format!("{:indent$}-", ""), indent + 2, entry, columns)
}

/// A change in one line.
pub(super) fn entry(text: &str) -> String {
    fit(&safe_line(text), CHANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(count: usize, stable: &[&str]) -> Changes {
        let entry = |number| format!("{}: change {number}", if number % 3 == 0 { "xfs" } else { "ext4" });
        Changes {
            since: "6.1.176-1".into(),
            stable: stable.iter().map(|release| (*release).to_owned()).collect(),
            entries: (0..count).map(entry).collect(),
            omitted: 0,
        }
    }

    fn asked(word: &str, changes: &Changes, candidates: usize) -> (String, usize, usize) {
        let words = BTreeSet::from([word.to_owned()]);
        let Excerpt { head, entries, more } = excerpt(&words, changes, candidates).unwrap();
        (head, entries.len(), more)
    }

    #[test]
    fn of_many_changes_the_closest_are_listed() {
        let many = changes(1_204, &["6.1.177", "6.1.180"]);
        let total = "1,204 since 6.1.176-1 (stable 6.1.177 to 6.1.180)";
        let head = format!("{total}; most relevant:");
        assert_eq!(asked("xfs", &many, 1), (head.clone(), 12, 1_192));
        assert_eq!(asked("xfs", &many, 5), (head.clone(), 2, 1_202));
        assert_eq!(asked("xfs", &many, 16), (head, 1, 1_203));
        assert_eq!(asked("zram", &many, 1), (total.into(), 0, 1_204));
        let cut = Changes { omitted: 6_000, ..changes(5_000, &[]) };
        assert_eq!(asked("zram", &cut, 1), ("11,000 since 6.1.176-1".into(), 0, 11_000));
    }

    #[test]
    fn a_few_are_all_listed() {
        assert_eq!(
            asked("zram", &changes(1, &["6.1.177"]), 1),
            ("1 since 6.1.176-1 (stable 6.1.177):".into(), 1, 0)
        );
        assert_eq!(asked("xfs", &changes(12, &[]), 1), ("12 since 6.1.176-1:".into(), 12, 0));
        assert_eq!(asked("xfs", &changes(0, &["6.1.177"]), 1).0, "0 since 6.1.176-1 (stable 6.1.177)");
        assert_eq!(excerpt(&BTreeSet::new(), &Changes::default(), 1), None);
    }
}
