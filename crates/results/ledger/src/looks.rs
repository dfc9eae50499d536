//! Whether sessions have changed, for whoever shows them while kiln works.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::past::{EVENTS, SESSION, sessions};

/// How long a session may take to be made: first there is its folder, and then what it is about.
const MAKING: Duration = Duration::from_secs(5);

/// Sessions that may be running; older ones have ended.
const RUNNING_MAX: usize = 16;

/// Looks at the sessions below a folder again and again.
#[derive(Debug)]
pub struct Looks {
    root: PathBuf,
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
    pub fn new(root: PathBuf) -> Self {
        Self { root, made: None, running: Vec::new() }
    }

    /// A number for what is there: each change is another one.
    pub fn look(&mut self) -> u64 {
        let made = modified(&self.root);
        let age = made.and_then(|made| made.elapsed().ok());
        if made != self.made || age.is_none_or(|age| age < MAKING) {
            let newest = sessions(&self.root).into_iter().take(RUNNING_MAX);
            self.running = newest.map(|past| past.directory().to_owned()).collect();
            self.made = made;
        }
        let mut hasher = DefaultHasher::new();
        made.hash(&mut hasher);
        for folder in &self.running {
            let events = folder.join(EVENTS).metadata();
            events.map(|events| events.len()).ok().hash(&mut hasher);
            modified(&folder.join(SESSION)).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// When a file or folder was last changed; nothing of one that is not there.
pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_another_number() {
        let place = tempfile::tempdir().expect("a directory");
        let mut looks = Looks::new(place.path().to_owned());
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
}
