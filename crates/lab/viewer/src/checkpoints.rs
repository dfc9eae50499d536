//! States on the way through a trace, kept beside its index: a moment is found from the last one before it.
//!
//! Each is a file in the form of postcard, whose name is its time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use ctf::Trace;
use serde::{Deserialize, Serialize};

use crate::files::Files;
use crate::states::States;
use crate::threads::Threads;

/// The folder in that of the index. Another number is for another form of what is kept.
const FOLDER: &str = "states-1";

/// Longest checkpoint, in bytes.
const LENGTH_MAX: u64 = 64 << 20;

/// Events from one to the next: reading them takes some hundredths of a second.
pub(crate) const INTERVAL: u64 = 250_000;

/// Most of a trace.
const COUNT_MAX: usize = 1000;

/// A trace whose files are as old as this does not grow any more.
const AT_REST: Duration = Duration::from_secs(5);

/// What is known at a time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Which trace it is of.
    uuid: [u8; 16],
    /// All events up to this time were seen, and none that is later; nothing if none was seen.
    pub(crate) time: Option<u64>,
    /// Packets so far that could not be read as a whole.
    pub(crate) damage: u64,
    pub(crate) states: States,
    pub(crate) names: Threads,
    pub(crate) files: Files,
}

/// The checkpoints of a trace. Where they cannot be read or written, the trace is read instead.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    folder: PathBuf,
    uuid: [u8; 16],
    times: BTreeSet<u64>,
    is_at_rest: bool,
}

impl Checkpoints {
    /// Finds those of a trace.
    pub(crate) fn open(trace: &Trace) -> Self {
        let folder = trace.index().join(FOLDER);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().take(COUNT_MAX);
        let times = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        Self { folder, uuid: trace.metadata.uuid, times, is_at_rest: is_at_rest(trace) }
    }

    /// The last one that is not later than this time; the begin of the trace if there is none.
    pub(crate) fn before(&self, time: u64) -> Checkpoint {
        let begin = || Checkpoint { uuid: self.uuid, ..Checkpoint::default() };
        self.times.range(..=time).rev().find_map(|time| self.read(*time)).unwrap_or_else(begin)
    }

    fn read(&self, time: u64) -> Option<Checkpoint> {
        let file = File::open(self.folder.join(time.to_string())).ok()?;
        let mut bytes = Vec::new();
        file.take(LENGTH_MAX).read_to_end(&mut bytes).ok()?;
        let found: Checkpoint = postcard::from_bytes(&bytes).ok()?;
        (found.uuid == self.uuid && found.time == Some(time)).then_some(found)
    }

    /// Keeps one.
    pub(crate) fn keep(&mut self, checkpoint: &Checkpoint) {
        let has_room = self.is_at_rest && self.times.len() < COUNT_MAX;
        if let Some(time) = checkpoint.time.filter(|time| has_room && !self.times.contains(time)) {
            // The folder may be somebody else's.
            self.is_at_rest = self.write(time, checkpoint).is_ok();
            self.times.insert(time);
        }
    }

    fn write(&self, time: u64, checkpoint: &Checkpoint) -> io::Result<()> {
        let bytes = postcard::to_stdvec(checkpoint).map_err(io::Error::other)?;
        fs::create_dir_all(&self.folder)?;
        // Whoever reads meanwhile sees all of it or nothing.
        let part = self.folder.join(format!("{time}.{}", std::process::id()));
        fs::write(&part, bytes)?;
        fs::rename(&part, self.folder.join(time.to_string()))
    }
}

/// Whether the files of a trace have not been written to for a while.
fn is_at_rest(trace: &Trace) -> bool {
    let Ok(entries) = fs::read_dir(trace.folder()) else { return false };
    let modified = entries.flatten().filter_map(|entry| entry.metadata().ok()?.modified().ok());
    let newest = modified.max();
    newest.is_some_and(|newest| newest.elapsed().is_ok_and(|age| age > AT_REST))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::walk::tests::{Sample, trace};

    /// A trace that nobody writes to.
    fn at_rest() -> (tempfile::TempDir, Trace, Checkpoints) {
        let samples =
            (1..9).map(|value| Sample { value, comm: "x", time: u64::try_from(value).expect("small") });
        let (place, trace) = trace(&samples.collect::<Vec<_>>());
        let checkpoints = Checkpoints { is_at_rest: true, ..Checkpoints::open(&trace) };
        (place, trace, checkpoints)
    }

    #[test]
    fn the_last_one_before_a_time_is_found_by_another_process() {
        let (_place, trace, mut checkpoints) = at_rest();
        assert_eq!(checkpoints.before(u64::MAX).time, None);
        let at = |time, damage| Checkpoint { time: Some(time), damage, ..checkpoints.before(0) };
        let (first, second) = (at(1002, 1), at(1005, 2));
        checkpoints.keep(&first);
        checkpoints.keep(&second);
        let found = Checkpoints::open(&trace);
        let times = [0, 1001, 1002, 1004, 1005, 9999].map(|time| found.before(time).damage);
        assert_eq!(times, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn one_of_another_trace_or_a_damaged_one_is_none() {
        let (_place, trace, mut checkpoints) = at_rest();
        let good = Checkpoint { time: Some(1001), damage: 7, ..checkpoints.before(0) };
        checkpoints.keep(&good);
        checkpoints.keep(&Checkpoint { uuid: [9; 16], time: Some(1002), ..good.clone() });
        fs::write(checkpoints.folder.join("1003"), b"\xff\xff").expect("writable");
        fs::write(checkpoints.folder.join("1004.77"), b"").expect("writable");
        assert_eq!(Checkpoints::open(&trace).before(2000).damage, 7);
    }

    #[test]
    fn a_trace_that_grows_keeps_none() {
        let (_place, trace, _) = at_rest();
        let mut checkpoints = Checkpoints::open(&trace);
        checkpoints.keep(&Checkpoint { time: Some(1001), ..checkpoints.before(0) });
        assert!(!checkpoints.folder.exists());
    }

    proptest! {
        #[test]
        fn any_file_is_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = postcard::from_bytes::<Checkpoint>(&bytes);
        }
    }
}
