//! Whether sessions or bisections have changed, for whoever shows them while kiln works.

use std::cmp::Reverse;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::figures::folders;
use crate::journal::{JOURNAL, Journal};
use crate::past::{EVENTS, SESSION, sessions};

/// How long a session may take to be made: first there is its folder, and then what it is about.
const MAKING: Duration = Duration::from_secs(5);

/// Sessions, and bisections, that may be running; older ones have ended.
const RUNNING_MAX: usize = 16;

/// Looks at the sessions below a folder, and at the bisections below another, again and again.
#[derive(Debug)]
pub struct Looks {
    root: PathBuf,
    bisections: PathBuf,
    /// When something was last made or removed in the folder of all sessions.
    made: Option<SystemTime>,
    /// The folders that sessions write to.
    running: Vec<PathBuf>,
}

impl Looks {
    /// Between two looks.
    pub const INTERVAL: Duration = Duration::from_millis(500);

    /// Nothing has been looked at yet.
    #[must_use]
    pub fn new(root: PathBuf, bisections: PathBuf) -> Self {
        Self { root, bisections, made: None, running: Vec::new() }
    }

    /// A number for what is there: each change is another one.
    pub fn look(&mut self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.look_at_sessions(&mut hasher);
        look_at_bisections(&self.bisections, &mut hasher);
        hasher.finish()
    }

    fn look_at_sessions(&mut self, hasher: &mut DefaultHasher) {
        let made = modified(&self.root);
        let age = made.and_then(|made| made.elapsed().ok());
        if made != self.made || age.is_none_or(|age| age < MAKING) {
            let newest = sessions(&self.root).into_iter().take(RUNNING_MAX);
            self.running = newest.map(|past| past.directory().to_owned()).collect();
            self.made = made;
        }
        made.hash(hasher);
        for folder in &self.running {
            length(&folder.join(EVENTS)).hash(hasher);
            modified(&folder.join(SESSION)).hash(hasher);
        }
    }
}

/// The same command goes on in the folder of a bisection, however old that is: what is in it changes then. One that is killed only
/// leaves its journal.
fn look_at_bisections(root: &Path, hasher: &mut DefaultHasher) {
    let changed = |folder: PathBuf| Some((Reverse(modified(&folder)?), folder));
    let mut all: Vec<_> = folders(root).into_iter().filter_map(changed).collect();
    all.sort();
    for (changed, folder) in all.iter().take(RUNNING_MAX) {
        (changed, folder, length(&folder.join(JOURNAL)), Journal::is_open(folder)).hash(hasher);
    }
}

/// When a file or folder was last changed; nothing of one that is not there.
#[must_use]
pub fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

fn length(path: &Path) -> Option<u64> {
    path.metadata().map(|found| found.len()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_another_number() {
        let place = tempfile::tempdir().expect("a directory");
        let mut looks = Looks::new(place.path().to_owned(), place.path().join("none"));
        let first = looks.look();
        assert_eq!(looks.look(), first);
        let folder = place.path().join("2026-11-20T10-07-31Z-1");
        std::fs::create_dir(&folder).expect("a folder");
        looks.look();
        std::fs::write(folder.join(SESSION), "{}").expect("writable");
        let second = looks.look();
        assert_ne!(second, first);
        std::fs::write(folder.join(EVENTS), "{}\n").expect("writable");
        assert_ne!(looks.look(), second);
    }

    #[test]
    fn a_bisection_is_noticed_that_begins_learns_something_and_ends() {
        let place = tempfile::tempdir().expect("a directory");
        let bisections = place.path().join("bisections");
        let mut looks = Looks::new(place.path().join("none"), bisections.clone());
        let mut before = looks.look();
        let mut is_news = |what: &str| {
            let now = looks.look();
            assert_ne!(std::mem::replace(&mut before, now), now, "{what}");
            assert_eq!(looks.look(), now, "nothing since it {what}");
        };
        let folder = bisections.join("4f1c9a0e6b7d2c35");
        for _ in 0..2 {
            let (mut journal, _) = Journal::open::<u32>(&folder).expect("a journal");
            is_news("begins, or goes on");
            journal.append(&1).expect("writable");
            is_news("has an answer");
            drop(journal);
            is_news("ends, or was killed");
        }
        for number in 0..RUNNING_MAX {
            std::fs::create_dir(bisections.join(number.to_string())).expect("a folder");
        }
        is_news("is beside others");
    }
}
