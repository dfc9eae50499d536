//! What the changelog of a package says is new in it.

use kernel::catalogue::Release;
use serde::{Deserialize, Serialize};

/// Entries that are kept. A kernel of Debian has some hundreds for each stable release that it takes in.
const ENTRIES_MAX: usize = 5_000;

/// Characters of an entry or a version that are kept. Of Debian's 50,000 entries 7 have more.
const LENGTH_MAX: usize = 256;

/// What is new in a candidate, by its own account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The version of the candidate before it, or of the first end.
    pub since: String,
    /// The first and the last of the releases of the stable kernel that came in, or the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stable: Vec<String>,
    /// An entry for each change, in one line; at most 5,000, and of each 256 characters.
    pub entries: Vec<String>,
    /// How many more there are.
    #[serde(default)]
    pub omitted: usize,
}

impl Changes {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.stable.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len().saturating_add(self.omitted)
    }

    /// Those of releases after version `since`, the newest release first.
    #[must_use]
    pub fn of(since: &str, releases: &[Release]) -> Self {
        let count: usize = releases.iter().map(|release| release.changes.len()).sum();
        let mut stable = releases.iter().rev().flat_map(|release| &release.stable).map(|text| bounded(text));
        let ends = stable.next().into_iter().chain(stable.next_back());
        let entries = releases.iter().flat_map(|release| &release.changes).map(|text| bounded(text));
        Self {
            since: bounded(since),
            stable: ends.collect(),
            entries: entries.take(ENTRIES_MAX).collect(),
            omitted: count.saturating_sub(ENTRIES_MAX),
        }
    }
}

fn bounded(text: &str) -> String {
    text.chars().take(LENGTH_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(stable: &[&str], changes: &[&str]) -> Release {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Release { version: String::new(), stable: owned(stable), changes: owned(changes) }
    }

    #[test]
    fn of_several_releases() {
        let releases =
            [release(&[], &["c"]), release(&["6.1.2", "6.1.3"], &[]), release(&["6.1.1"], &["a", "b"])];
        let changes = Changes::of("6.1.0-1", &releases);
        assert_eq!(changes.entries, ["c", "a", "b"]);
        assert_eq!(changes.stable, ["6.1.1", "6.1.3"]);
        assert_eq!((&*changes.since, changes.count(), changes.is_empty()), ("6.1.0-1", 3, false));
        assert_eq!(Changes::of("", &releases[2..]).stable, ["6.1.1"]);
        assert!(Changes::of("1", &[]).is_empty());
    }

    #[test]
    fn the_longest_changelog_is_borne() {
        let long = "é".repeat(10_000);
        let changes = Changes::of(&long, &[release(&[&long], &vec![&*long; 6_000])]);
        assert_eq!((changes.entries.len(), changes.omitted, changes.count()), (5_000, 1_000, 6_000));
        let texts = [&changes.since, &changes.stable[0], &changes.entries[0]];
        assert_eq!(texts.map(|text| text.chars().count()), [256; 3]);
    }
}
