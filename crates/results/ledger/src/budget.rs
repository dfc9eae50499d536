//! Keeps what sessions take on the disk within a budget.
//!
//! What passed goes first, then dumps of memory, then failures, each from the oldest on. A session that is being recorded
//! stays: its recorder holds a lock.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::document;
use crate::past::{Past, read, sessions};
use crate::recorder::EVENTS;

/// Most that all sessions together take, in bytes.
const BUDGET: u64 = 8 << 30;

/// Most sessions.
const SESSIONS_MAX: usize = 2_000;

/// Less free space than this is worth a word, in bytes.
const LITTLE: u64 = 2 << 30;

/// What is known of the sessions, beside their folders: measuring them all each time would take long.
const INDEX: &str = "sizes.json";

/// How the name of a session begins that is being removed.
const REMOVED: &str = ".removed-";

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
}

/// What may be kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    bytes: u64,
    sessions: usize,
}

/// Removes sessions below `root` until they are within the budget; gives what is worth knowing about that and about the
/// space that is left.
#[must_use]
pub fn make_room(root: &Path) -> Vec<String> {
    let freed = keep_within(root, Limits { bytes: BUDGET, sessions: SESSIONS_MAX });
    let removed = (freed.bytes > 0).then(|| {
        let (mib, place) = (freed.bytes >> 20, root.display());
        let budget = BUDGET >> 30;
        format!("removed the oldest of what sessions kept, {mib} MiB, to stay within {budget} GiB in {place}")
    });
    let free = rustix::fs::statvfs(root).map(|system| system.f_bavail.saturating_mul(system.f_frsize));
    let little = free.ok().filter(|free| *free < LITTLE).map(|free| {
        let (mib, place) = (free >> 20, root.display());
        format!("only {mib} MiB are free for {place}: `kiln kernels prune` makes room")
    });
    removed.into_iter().chain(little).collect()
}

/// What was removed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Freed {
    bytes: u64,
}

fn keep_within(root: &Path, limits: Limits) -> Freed {
    clear_remains(root);
    let known: BTreeMap<String, Size> = read(&root.join(INDEX)).unwrap_or_default();
    let mut kept = measured(root, &known);
    let mut freed = Freed::default();
    let is_within = |kept: &[(Past, Size)]| {
        kept.iter().map(|(_, size)| size.bytes).sum::<u64>() <= limits.bytes && kept.len() <= limits.sessions
    };
    for step in [Step::Passed, Step::Dumps, Step::Failed] {
        let mut at = 0;
        while at < kept.len() && !is_within(&kept) {
            let (past, size) = &mut kept[at];
            let gone = if step.applies(*size) { step.take(root, past, size) } else { 0 };
            freed.bytes += gone;
            if gone > 0 && step != Step::Dumps { drop(kept.remove(at)) } else { at += 1 }
        }
    }
    // The others may still grow.
    let ended = kept.iter().filter(|(past, _)| !is_recorded(past.directory()));
    let index: BTreeMap<String, Size> = ended.map(|(past, size)| (past.name(), *size)).collect();
    // Without it they are measured again.
    let _ = document::write(&root.join(INDEX), &index);
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

    /// Removes it, unless somebody records it; gives how many bytes that freed.
    fn take(self, root: &Path, past: &Past, size: &mut Size) -> u64 {
        if is_recorded(past.directory()) {
            return 0;
        }
        if self == Self::Dumps {
            let dumps = files(past.directory()).into_iter().filter(|(path, _)| is_dump(path));
            let gone =
                dumps.filter(|(path, _)| std::fs::remove_file(path).is_ok()).map(|(_, bytes)| bytes).sum();
            (size.bytes, size.dumps) = (size.bytes.saturating_sub(gone), 0);
            return gone;
        }
        // Half a session is none: what is removed has another name first.
        let removed = root.join(format!("{REMOVED}{}", past.name()));
        match std::fs::rename(past.directory(), &removed) {
            Ok(()) => {
                let _ = std::fs::remove_dir_all(removed);
                size.bytes.max(1)
            }
            Err(_) => 0,
        }
    }
}

/// What an earlier kiln began to remove.
fn clear_remains(root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(REMOVED)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
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
    if !is_recorded(past.directory()) {
        // What a kiln that was killed had not written to the end.
        files.retain(|(path, _)| !ends_with(path, HALF) || std::fs::remove_file(path).is_err());
    }
    let sum = |wanted: &dyn Fn(&Path) -> bool| {
        files.iter().filter(|(path, _)| wanted(path)).map(|(_, bytes)| bytes).sum::<u64>()
    };
    Size { bytes: sum(&|_| true), dumps: sum(&is_dump), failed: past.has_failure() }
}

fn is_dump(path: &Path) -> bool {
    ends_with(path, DUMP)
}

fn ends_with(path: &Path, end: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(end.as_bytes()))
}

/// All plain files below a folder with what they take on the disk; links are not followed.
fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => found.extend(files(&entry.path())),
            Ok(metadata) if metadata.is_file() => found.push((entry.path(), metadata.blocks() * 512)),
            _ => {}
        }
    }
    found
}

fn is_recorded(directory: &Path) -> bool {
    File::open(directory.join(EVENTS)).is_ok_and(|file| file.try_lock().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use crate::past::tests::keep;
    use judge::Outcome::{Fail, Pass};

    fn names(root: &Path) -> Vec<String> {
        sessions(root)
            .iter()
            .map(|past| past.name().split('-').next().unwrap_or_default().to_string())
            .collect()
    }

    fn limits(bytes: u64, sessions: usize) -> Limits {
        Limits { bytes, sessions }
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
        assert!(freed.bytes >= 1 << 20);
        let dump = sessions(root.path())[0].directory().join("cases/a.vmcore");
        assert!(!dump.exists());
        assert_eq!(keep_within(root.path(), limits(1 << 20, 10)), Freed::default());
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
    fn what_is_half_removed_or_no_session_is_seen_to() {
        let root = four();
        std::fs::create_dir(root.path().join(".removed-x")).unwrap();
        std::fs::create_dir(root.path().join("mine")).unwrap();
        std::fs::write(root.path().join(INDEX), "nonsense").unwrap();
        keep_within(root.path(), limits(0, 0));
        assert!(names(root.path()).is_empty() && root.path().join("mine").is_dir());
        assert!(!root.path().join(".removed-x").exists());
        assert!(make_room(root.path()).len() <= 1);
        assert!(make_room(Path::new("/no/such/place")).is_empty());
    }
}
