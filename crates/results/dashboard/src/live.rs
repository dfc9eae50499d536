//! What browsers learn while they show a page: that there is news.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use ledger::sessions;
use tokio::sync::watch;

/// Between two looks at the sessions.
const INTERVAL: Duration = Duration::from_millis(500);

/// Sessions that may be running; older ones have ended.
const RUNNING_MAX: usize = 16;

/// Looks at the sessions below `root` until `stop` is set; each change is another number.
pub(crate) fn watch_sessions(root: PathBuf, stop: Arc<AtomicBool>) -> std::io::Result<watch::Receiver<u64>> {
    let (sender, receiver) = watch::channel(0);
    std::thread::Builder::new().name("sessions".to_owned()).spawn(move || {
        let mut looks = Looks { root, made: None, running: Vec::new() };
        // With the thread the sender ends, and with that all streams.
        while !stop.load(Ordering::Relaxed) {
            let now = looks.look();
            sender.send_if_modified(|before| std::mem::replace(before, now) != now);
            std::thread::sleep(INTERVAL);
        }
    })?;
    Ok(receiver)
}

/// What was there at the last look.
struct Looks {
    root: PathBuf,
    /// When something was last made or removed in the folder of all sessions.
    made: Option<SystemTime>,
    /// The files that sessions write to.
    running: Vec<PathBuf>,
}

impl Looks {
    /// A number for what is there.
    fn look(&mut self) -> u64 {
        let made = modified(&self.root);
        if made != self.made {
            let newest = sessions(&self.root).into_iter().take(RUNNING_MAX);
            self.running = newest.map(|past| past.directory().to_owned()).collect();
            self.made = made;
        }
        let mut hasher = DefaultHasher::new();
        made.hash(&mut hasher);
        for folder in &self.running {
            let events = folder.join("events.jsonl").metadata();
            events.map(|events| events.len()).ok().hash(&mut hasher);
            modified(&folder.join("session.json")).hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_another_number() {
        let place = tempfile::tempdir().expect("a directory");
        let mut looks = Looks { root: place.path().to_owned(), made: None, running: Vec::new() };
        let first = looks.look();
        assert_eq!(looks.look(), first);
        let folder = place.path().join("2026-11-20T10-07-31Z-1");
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("session.json"), "{}").expect("writable");
        // The time of a folder may be as coarse as a tick of the kernel.
        looks.made = None;
        let second = looks.look();
        assert_ne!(second, first);
        std::fs::write(folder.join("events.jsonl"), "{}\n").expect("writable");
        assert_ne!(looks.look(), second);
    }
}
