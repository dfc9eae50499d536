//! The kernels that were tested and told, on the disk: a kiln that was stopped or killed goes on with the others.

use std::path::Path;

use ledger::Journal;
use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;

/// What is noted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    /// These were there when somebody first looked at a source: they are no news.
    There(String, Vec<Arrival>),
    /// This was tested and told.
    Done(Arrival),
}

/// Those that were seen, in the order in which they were tested. One kiln has them open.
#[derive(Debug)]
pub struct Seen {
    journal: Journal,
    /// The sources that somebody has looked at.
    sources: Vec<String>,
    there: Vec<Arrival>,
    done: Vec<Arrival>,
}

impl Seen {
    /// Those whose names are kept in `folder`.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written, or another kiln has it open.
    pub fn open(folder: &Path) -> Result<Self, ledger::Error> {
        let (journal, entries) = Journal::open(folder)?;
        let mut seen = Self { journal, sources: Vec::new(), there: Vec::new(), done: Vec::new() };
        for entry in entries {
            match entry {
                Entry::There(source, all) => {
                    seen.sources.push(source);
                    seen.there.extend(all);
                }
                Entry::Done(arrival) => seen.done.push(arrival),
            }
        }
        Ok(seen)
    }

    /// Notes what a source has, if nobody has looked at it before.
    ///
    /// # Errors
    ///
    /// When that cannot be written.
    pub fn first_look(&mut self, source: &str, all: &[Arrival]) -> Result<(), ledger::Error> {
        if !self.sources.iter().any(|seen| seen == source) {
            self.journal.append(&Entry::There(source.to_owned(), all.to_vec()))?;
            self.sources.push(source.to_owned());
            self.there.extend_from_slice(all);
        }
        Ok(())
    }

    /// Whether it was there when somebody first looked at its source.
    #[must_use]
    pub fn was_there(&self, arrival: &Arrival) -> bool {
        self.there.iter().any(|there| there.is(arrival))
    }

    /// Whether this very kernel was tested and told.
    #[must_use]
    pub fn has(&self, arrival: &Arrival) -> bool {
        self.done.iter().any(|done| done.is(arrival))
    }

    /// The newest kernel of the same line that is older than this one; of two that are equally new, the one that was seen last.
    #[must_use]
    pub fn before(&self, arrival: &Arrival) -> Option<&Arrival> {
        let is_before = |seen: &&Arrival| {
            seen.is_in_line_with(arrival) && seen.kernel != arrival.kernel && seen.is_older_than(arrival)
        };
        let is_newer = |a: &Arrival, b: &Arrival| a.is_older_than(b) || !b.is_older_than(a);
        self.done.iter().filter(is_before).reduce(|a, b| if is_newer(a, b) { b } else { a })
    }

    /// Notes that it was tested and told.
    ///
    /// # Errors
    ///
    /// When that cannot be written.
    pub fn add(&mut self, arrival: Arrival) -> Result<(), ledger::Error> {
        self.journal.append(&Entry::Done(arrival.clone()))?;
        self.done.push(arrival);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(kernel: &str, version: &str, flavour: &str) -> Arrival {
        let kernel = kernel.to_owned();
        Arrival {
            source: "deb:*".to_owned(),
            kernel,
            version: version.to_owned(),
            flavour: flavour.to_owned(),
        }
    }

    #[test]
    fn what_was_seen_is_known_after_a_restart_and_by_one_kiln_at_a_time() {
        let folder = tempfile::tempdir().expect("a directory");
        let old = arrival("deb:6.1.0-1-amd64", "6.1.1-1", "amd64");
        let rt = arrival("deb:6.1.0-2-rt-amd64", "6.1.2-1", "rt");
        let new = arrival("deb:6.1.0-2-amd64", "6.1.2-1", "amd64");
        let mut seen = Seen::open(folder.path()).expect("room");
        seen.first_look("deb:*", &[old.clone(), rt.clone()]).expect("written");
        seen.add(old.clone()).expect("written");
        seen.add(rt.clone()).expect("written");
        let busy = Seen::open(folder.path()).unwrap_err().to_string();
        assert!(busy.contains("another kiln uses it"), "{busy}");
        drop(seen);
        let mut seen = Seen::open(folder.path()).expect("room");
        seen.first_look("deb:*", std::slice::from_ref(&new)).expect("written");
        assert!(seen.was_there(&rt) && !seen.was_there(&new), "only the first look counts");
        assert!(seen.has(&old) && seen.has(&rt) && !seen.has(&new));
        assert!(!seen.has(&arrival("deb:6.1.0-1-amd64", "6.1.1-2", "amd64")), "the package was built again");
        assert!(seen.has(&Arrival { source: "apt:linux-image".to_owned(), ..old.clone() }));
        assert_eq!(seen.before(&new), Some(&old));
        assert_eq!(seen.before(&old), None);
    }

    #[test]
    fn packages_follow_their_versions_and_commits_each_other() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut seen = Seen::open(folder.path()).expect("room");
        let package =
            |number: u32| arrival(&format!("deb:6.1.0-{number}-amd64"), &format!("6.1.{number}-1"), "amd64");
        let commit = |hash: &str| arrival(&format!("git:~/linux@{hash}"), hash, "");
        for one in [package(9), package(2), package(11), commit("ff"), commit("11")] {
            seen.add(one).expect("written");
        }
        assert_eq!(seen.before(&package(10)), Some(&package(9)));
        assert_eq!(seen.before(&package(2)), None);
        assert_eq!(seen.before(&commit("aa")), Some(&commit("11")));
        assert_eq!(seen.before(&commit("11")), Some(&commit("ff")));
    }
}
