//! Sessions that run, followed by what they report.

use std::collections::HashMap;
use std::path::Path;

use ledger::{Following, Past};
use report::Pace;

/// Sessions that run, by their names.
#[derive(Debug, Default)]
pub(crate) struct Running {
    followed: HashMap<String, (Following, Pace)>,
}

impl Running {
    /// How far a session is; nothing of one that no kiln of this host records.
    pub(crate) fn pace(&mut self, past: &Past) -> Option<&Pace> {
        let name = past.name();
        if !past.is_recorded() {
            self.followed.remove(&name);
            return None;
        }
        let begin = || (Following::new(past.clone()), Pace::default());
        let (following, pace) = self.followed.entry(name).or_insert_with(begin);
        following.news().iter().for_each(|event| pace.on_event(event));
        Some(pace)
    }

    /// Forgets those whose folders are gone.
    pub(crate) fn keep_below(&mut self, root: &Path) {
        self.followed.retain(|name, _| root.join(name).is_dir());
    }
}

#[cfg(test)]
mod tests {
    use judge::{Outcome, Run};
    use lab::{Event, Listener};
    use ledger::Recorder;

    use super::*;
    use crate::fixture::session;

    #[test]
    fn a_session_is_followed_as_long_as_it_is_recorded() {
        let root = tempfile::tempdir().expect("a directory");
        let planned = session(&["a", "b"]);
        let mut recorder = Recorder::create(root.path(), &planned.stamp()).expect("room");
        recorder.on_event(&Event::Planned(Box::new(planned)));
        let past = Past::open(&root.path().join(recorder.name())).expect("it is there");
        let mut running = Running::default();
        assert_eq!(running.pace(&past).expect("it runs").done(), (0, 2));
        let run = Run { case: "a".to_owned(), outcome: Outcome::Pass, boot: 1, ..Run::unstarted() };
        recorder.on_event(&Event::Finished(Box::new(run)));
        assert_eq!(running.pace(&past).expect("it runs").done(), (1, 2));
        drop(recorder);
        assert!(running.pace(&past).is_none() && running.followed.is_empty());
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let root = tempfile::tempdir().expect("a directory");
        let planned = session(&["a"]);
        let mut recorder = Recorder::create(root.path(), &planned.stamp()).expect("room");
        recorder.on_event(&Event::Planned(Box::new(planned)));
        let past = Past::open(&root.path().join(recorder.name())).expect("it is there");
        let mut running = Running::default();
        running.pace(&past).expect("it runs");
        running.keep_below(root.path());
        assert_eq!(running.followed.len(), 1);
        std::fs::remove_dir_all(past.directory()).expect("removable");
        running.keep_below(root.path());
        assert!(running.followed.is_empty());
    }
}
