//! Sessions: what passed goes first, then dumps of memory, then failures. One that is being recorded stays, since its recorder
//! holds a lock, and so does one that somebody still needs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Limits, hold, remove};
use crate::database::Ledger;
use crate::document;
use crate::evidence::Evidence;
use crate::files::files;
use crate::past::{Past, read, sessions};

/// What is known of the sessions, beside their folders: measuring them all each time would take long.
const INDEX: &str = "sizes.json";

/// How the name of a dump ends, and that of one that is being written.
const DUMP: &str = ".vmcore";
const HALF: &str = ".vmcore.part";

/// What a session takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Size {
    bytes: u64,
    /// Of these in dumps.
    dumps: u64,
    /// Something in it did not go well.
    failed: bool,
    /// Another host ran it.
    #[serde(default)]
    is_foreign: bool,
}

/// What sessions of other hosts may take, as a share of what those of this host may: they never take the place of these.
const FOREIGN_SHARE: u64 = 4;

/// Removes sessions below `root` until they are within the limits; gives the bytes that were freed.
pub(super) fn keep_within(root: &Path, limits: Limits) -> u64 {
    let known: BTreeMap<String, Size> = read(&root.join(INDEX)).unwrap_or_default();
    let (mut foreign, mut own): (Vec<_>, Vec<_>) =
        measured(root, &known).into_iter().partition(|(_, size)| size.is_foreign);
    let share = Limits {
        bytes: limits.bytes / FOREIGN_SHARE,
        folders: limits.folders / usize::try_from(FOREIGN_SHARE).unwrap_or(1),
    };
    let failures = |kept: &[(Past, Size)]| kept.iter().filter(|(_, size)| size.failed).count();
    let before = failures(&own);
    let freed = shrink(root, &mut own, limits) + shrink(root, &mut foreign, share);
    if failures(&own) < before {
        // What shows them was added. Where there is no room now, the next time there is.
        let _ = Evidence::of(root).prune();
    }
    // The others may still grow.
    let ended = own.iter().chain(&foreign).filter(|(past, _)| !past.is_recorded());
    let index: BTreeMap<String, Size> = ended.map(|(past, size)| (past.name(), *size)).collect();
    // Without it they are measured again.
    let _ = document::write(&root.join(INDEX), &index);
    freed
}

/// Removes sessions until the others are within the limits; gives the bytes that were freed.
fn shrink(root: &Path, kept: &mut Vec<(Past, Size)>, limits: Limits) -> u64 {
    let mut freed = 0;
    let is_within = |kept: &[(Past, Size)]| {
        kept.iter().map(|(_, size)| size.bytes).sum::<u64>() <= limits.bytes && kept.len() <= limits.folders
    };
    for step in [Step::Passed, Step::Dumps, Step::Failed] {
        let mut at = 0;
        while at < kept.len() && !is_within(kept) {
            let (past, size) = &mut kept[at];
            let gone = if step.applies(*size) { step.take(root, past, size) } else { 0 };
            freed += gone;
            if gone > 0 && step != Step::Dumps { drop(kept.remove(at)) } else { at += 1 }
        }
    }
    freed
}

/// What goes, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Passed,
    Dumps,
    Failed,
}

impl Step {
    fn applies(self, size: Size) -> bool {
        match self {
            Self::Passed => !size.failed,
            Self::Dumps => size.dumps > 0,
            Self::Failed => true,
        }
    }

    /// Removes it, unless somebody records or needs it; gives how many bytes that freed.
    fn take(self, root: &Path, past: &Past, size: &mut Size) -> u64 {
        if past.is_recorded() || hold::is_held(root, &past.name()) {
            return 0;
        }
        if self == Self::Dumps {
            let dumps = files(past.directory()).into_iter().filter(|(path, _)| is_dump(path));
            let gone =
                dumps.filter(|(path, _)| std::fs::remove_file(path).is_ok()).map(|(_, bytes)| bytes).sum();
            (size.bytes, size.dumps) = (size.bytes.saturating_sub(gone), 0);
            return gone;
        }
        // What it says stays known. Where that cannot be written, room is needed all the more.
        let _ = Ledger::keep(root, past);
        let _ = Evidence::of(root).keep(past);
        remove(root, past.directory(), size.bytes)
    }
}

/// The sessions and what they take, the oldest first.
fn measured(root: &Path, known: &BTreeMap<String, Size>) -> Vec<(Past, Size)> {
    let mut all: Vec<(Past, Size)> = sessions(root)
        .into_iter()
        .map(|past| {
            let size = known.get(&past.name()).copied().unwrap_or_else(|| measure(&past));
            (past, size)
        })
        .collect();
    all.reverse();
    all
}

fn measure(past: &Past) -> Size {
    let mut files = files(past.directory());
    if !past.is_recorded() {
        // What a kiln that was killed had not written to the end.
        files.retain(|(path, _)| !ends_with(path, HALF) || std::fs::remove_file(path).is_err());
    }
    let sum = |wanted: &dyn Fn(&Path) -> bool| {
        files.iter().filter(|(path, _)| wanted(path)).map(|(_, bytes)| bytes).sum::<u64>()
    };
    Size {
        bytes: sum(&|_| true),
        dumps: sum(&is_dump),
        failed: past.has_failure(),
        is_foreign: past.session().is_ok_and(|session| session.origin.is_some()),
    }
}

fn is_dump(path: &Path) -> bool {
    ends_with(path, DUMP)
}

fn ends_with(path: &Path, end: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use crate::budget::{Budget, Hold};
    use crate::past::tests::keep;
    use judge::Outcome::{Fail, Pass};

    fn names(root: &Path) -> Vec<String> {
        sessions(root)
            .iter()
            .map(|past| past.name().split('-').next().unwrap_or_default().to_string())
            .collect()
    }

    fn limits(bytes: u64, folders: usize) -> Limits {
        Limits { bytes, folders }
    }

    /// Four sessions, the first and third of which failed; the third has a dump of a MiB.
    fn four() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, outcome) in [("1", Fail), ("2", Pass), ("3", Fail), ("4", Pass)] {
            let past = keep(root.path(), name, &[("a", outcome)], Some(false));
            if name == "3" {
                std::fs::write(past.directory().join("cases/a.vmcore"), vec![1; 1 << 20]).unwrap();
            }
        }
        root
    }

    #[test]
    fn what_passed_goes_first_and_failures_last() {
        let root = four();
        let path = root.path();
        for (most, left) in
            [(4, &["4", "3", "2", "1"][..]), (3, &["4", "3", "1"]), (2, &["3", "1"]), (1, &["3"])]
        {
            keep_within(path, limits(u64::MAX, most));
            assert_eq!(names(path), left);
        }
    }

    #[test]
    fn a_dump_goes_before_the_failure_that_it_belongs_to() {
        let root = four();
        let freed = keep_within(root.path(), limits(1 << 20, 10));
        assert_eq!(names(root.path()), ["3", "1"], "what passed was not enough");
        assert!(freed >= 1 << 20);
        let dump = sessions(root.path())[0].directory().join("cases/a.vmcore");
        assert!(!dump.exists());
        assert_eq!(keep_within(root.path(), limits(1 << 20, 10)), 0);
    }

    #[test]
    fn a_session_that_is_recorded_stays() {
        let root = tempfile::tempdir().unwrap();
        let recorder = Recorder::create(root.path(), "1").unwrap();
        std::fs::write(recorder.directory().join("session.json"), "{}").unwrap();
        keep_within(root.path(), limits(0, 0));
        assert!(recorder.directory().is_dir());
        let directory = recorder.directory().to_owned();
        recorder.finish().unwrap();
        keep_within(root.path(), limits(0, 0));
        assert!(!directory.exists());
    }

    #[test]
    fn half_a_dump_goes_once_nobody_writes_it() {
        let root = tempfile::tempdir().unwrap();
        let recorder = Recorder::create(root.path(), "1").unwrap();
        std::fs::write(recorder.directory().join("session.json"), "{}").unwrap();
        let half = recorder.directory().join("cases/a.vmcore.part");
        std::fs::create_dir_all(half.parent().unwrap()).unwrap();
        std::fs::write(&half, "half").unwrap();
        let program = recorder.directory().join("program.part");
        std::fs::write(&program, "the user's").unwrap();
        keep_within(root.path(), limits(u64::MAX, 9));
        assert!(half.exists());
        drop(recorder);
        keep_within(root.path(), limits(u64::MAX, 9));
        assert!(!half.exists() && program.exists() && names(root.path()).len() == 1);
        let index: BTreeMap<String, Size> = read(&root.path().join(INDEX)).unwrap();
        assert_eq!(index.len(), 1, "a session that was killed does not grow either");
    }

    #[test]
    fn what_shows_failures_is_kept_and_limited_when_sessions_go() {
        let root = four();
        let evidence = Evidence::of(root.path());
        let lock = crate::artefacts::Artefacts::beside(root.path()).lock().unwrap();
        let artefacts = crate::artefacts::Artefacts::beside(root.path());
        let nobodys = artefacts.add(b"nobody's", &lock).unwrap();
        drop(lock);
        keep_within(root.path(), limits(0, 0));
        assert_eq!(evidence.usage().sessions, 2);
        assert!(artefacts.read(&nobodys).is_err());
    }

    #[test]
    fn a_session_that_somebody_needs_stays() {
        let root = four();
        let path = root.path();
        let hold = Hold::new(path).unwrap();
        hold.add(&sessions(path)[2].name()).unwrap();
        keep_within(path, limits(u64::MAX, 1));
        assert_eq!(names(path), ["2"], "it passed, and the others did not all");
        drop(hold);
        keep_within(path, limits(0, 0));
        assert!(names(path).is_empty());
        let left = std::fs::read_dir(path).unwrap().flatten().map(|entry| entry.file_name());
        let is_index = |name: &std::ffi::OsString| {
            *name == *INDEX
                || *name == *crate::artefacts::FOLDER
                || name.to_string_lossy().starts_with("ledger.sqlite")
        };
        assert!(left.into_iter().all(|name| is_index(&name)), "but for the indexes nothing is left");
        let known = Ledger::open(path, &mut |_, _| {}).unwrap().runs(&crate::RunsQuery::default()).unwrap();
        assert_eq!(known.total, 4, "what was removed is known");
    }

    #[test]
    fn what_is_half_removed_or_no_session_is_seen_to() {
        let root = four();
        std::fs::create_dir(root.path().join(".removed-x")).unwrap();
        std::fs::create_dir(root.path().join("mine")).unwrap();
        std::fs::write(root.path().join(INDEX), "nonsense").unwrap();
        Budget::Sessions.keep_within(root.path(), limits(0, 0));
        assert!(names(root.path()).is_empty() && root.path().join("mine").is_dir());
        assert!(!root.path().join(".removed-x").exists());
    }
}
