//! How long cases take, learnt from session to session.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use judge::{Outcome, Run};

use crate::document;
use crate::past::read;

/// The file, beside the folders of the sessions.
const NAME: &str = "durations.json";

/// Cases that are remembered.
const CASES_MAX: usize = 10_000;

/// Bytes of a name that is remembered.
const CASE_BYTES_MAX: usize = 256;

/// How long cases took lately, so that the longest can start first.
#[derive(Debug)]
pub struct Durations {
    path: PathBuf,
    /// Milliseconds by case.
    cases: BTreeMap<String, u64>,
}

impl Durations {
    /// What is known below `root`, the folder of all sessions; nothing if the file is missing or damaged, since it
    /// can be learnt again.
    #[must_use]
    pub fn load(root: &Path) -> Self {
        let path = root.join(NAME);
        let cases = read(&path).unwrap_or_default();
        let mut durations = Self { path, cases };
        durations.bound();
        durations
    }

    /// How long `case` takes, if it was run before.
    #[must_use]
    pub fn of(&self, case: &str) -> Option<Duration> {
        self.cases.get(case).copied().map(Duration::from_millis)
    }

    /// Takes a finished Run into account: it counts as much as all before it together. One that was skipped or broken
    /// says nothing about how long its case takes.
    pub fn learn(&mut self, run: &Run) {
        if matches!(run.outcome, Outcome::Skip | Outcome::Broken) {
            return;
        }
        let millis = u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX);
        let mean = self.cases.entry(run.case.clone()).or_insert(millis);
        *mean = mean.midpoint(millis);
    }

    /// Keeps it for the next session. Of two sessions that end at the same time, the last one wins.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; the one that was there stays.
    pub fn save(&mut self) -> io::Result<()> {
        self.bound();
        document::write(&self.path, &self.cases)
    }

    /// Keeps the longest: it is they that should not start last.
    fn bound(&mut self) {
        self.cases.retain(|case, _| case.len() <= CASE_BYTES_MAX);
        if self.cases.len() > CASES_MAX {
            let mut cases: Vec<_> = std::mem::take(&mut self.cases).into_iter().collect();
            cases.sort_by_key(|(_, millis)| Reverse(*millis));
            cases.truncate(CASES_MAX);
            self.cases = cases.into_iter().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(case: &str, outcome: Outcome, millis: u64) -> Run {
        let duration = Duration::from_millis(millis);
        Run { case: case.into(), outcome, duration, ..Run::unstarted() }
    }

    fn root() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn loaded(content: &[u8]) -> Durations {
        let root = root();
        std::fs::write(root.path().join(NAME), content).expect("written");
        Durations::load(root.path())
    }

    #[test]
    fn what_was_learnt_is_known_in_the_next_session() {
        let root = root();
        let mut durations = Durations::load(root.path());
        assert_eq!(durations.of("pipe/full"), None);
        for (outcome, millis) in [(Outcome::Pass, 100), (Outcome::Hang, 300), (Outcome::Fail, 400)] {
            durations.learn(&run("pipe/full", outcome, millis));
        }
        durations.save().expect("written");
        let mut again = Durations::load(root.path());
        assert_eq!(again.of("pipe/full"), Some(Duration::from_millis(300)));
        again.learn(&run("pipe/full", Outcome::Pass, 0));
        again.save().expect("written over");
        assert_eq!(Durations::load(root.path()).of("pipe/full"), Some(Duration::from_millis(150)));
    }

    #[test]
    fn a_skipped_or_broken_run_teaches_nothing() {
        let mut durations = Durations::load(root().path());
        durations.learn(&run("a", Outcome::Skip, 5));
        durations.learn(&run("a", Outcome::Broken, 5));
        assert_eq!(durations.of("a"), None);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        for content in
            ["", "{", "[1]", r#"{"a":-1}"#, r#"{"a":"1"}"#, r#"{"a":1}{}"#, &"[".repeat(100_000), "\0"]
        {
            assert!(loaded(content.as_bytes()).cases.is_empty(), "{content:.20}");
        }
        let root = root();
        std::fs::create_dir(root.path().join(NAME)).expect("in the way");
        assert!(Durations::load(root.path()).cases.is_empty());
        assert!(Durations::load(root.path()).save().is_err());
    }

    #[test]
    fn only_so_many_are_kept_and_the_longest_of_them() {
        let root = root();
        let mut durations = Durations::load(root.path());
        for number in 0..CASES_MAX as u64 + 10 {
            durations.learn(&run(&format!("case/{number}"), Outcome::Pass, number));
        }
        durations.learn(&run(&"\0".repeat(CASE_BYTES_MAX), Outcome::Pass, u64::MAX));
        durations.learn(&run(&"x".repeat(CASE_BYTES_MAX + 1), Outcome::Pass, u64::MAX));
        durations.save().expect("written");
        let durations = Durations::load(root.path());
        assert_eq!(durations.cases.len(), CASES_MAX);
        assert_eq!(durations.of("case/10"), None);
        assert_eq!(durations.of("case/11"), Some(Duration::from_millis(11)));
    }

    #[test]
    fn the_largest_file_that_is_written_is_read() {
        let root = root();
        let mut durations = Durations::load(root.path());
        for number in 0..CASES_MAX {
            let case = format!("{number:05}{}", "\u{1}".repeat(CASE_BYTES_MAX - 5));
            durations.learn(&run(&case, Outcome::Pass, u64::MAX));
        }
        durations.save().expect("written");
        assert_eq!(Durations::load(root.path()).cases.len(), CASES_MAX);
    }

    #[test]
    fn two_sessions_that_end_together_leave_a_whole_file() {
        let root = root();
        let write = |size: usize| {
            for _ in 0..50 {
                let mut durations = Durations::load(root.path());
                durations.learn(&run(&"x".repeat(size), Outcome::Pass, 7));
                durations.save().expect("written");
                assert!(!Durations::load(root.path()).cases.is_empty());
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| write(3));
            write(200);
        });
        let names =
            std::fs::read_dir(root.path()).expect("readable").flatten().map(|entry| entry.file_name());
        assert_eq!(names.collect::<Vec<_>>(), [NAME]);
    }

    proptest! {
        #[test]
        fn any_content_is_taken_or_left(content in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut durations = loaded(&content);
            durations.learn(&run("a", Outcome::Pass, 5));
            prop_assert!(durations.of("a").is_some());
        }

        #[test]
        fn any_cases_are_read_back(cases in prop::collection::btree_map(any::<String>(), any::<u64>(), 0..20)) {
            let content = serde_json::to_vec(&cases).expect("JSON");
            let short = cases.into_iter().filter(|(case, _)| case.len() <= CASE_BYTES_MAX);
            prop_assert_eq!(loaded(&content).cases, short.collect::<BTreeMap<_, _>>());
        }

        #[test]
        fn a_mean_lies_between_what_was_seen(millis in prop::collection::vec(any::<u64>(), 1..9)) {
            let mut durations = Durations::load(root().path());
            millis.iter().for_each(|&millis| durations.learn(&run("a", Outcome::Pass, millis)));
            let (least, most) = (millis.iter().min().copied(), millis.iter().max().copied());
            let mean = durations.of("a");
            prop_assert!(least.map(Duration::from_millis) <= mean && mean <= most.map(Duration::from_millis));
        }
    }
}
