//! What threads and CPUs did at a moment.

use ctf::{Error, Trace};

use crate::checkpoints::{Checkpoint, Checkpoints, INTERVAL};
use crate::files::Files;
use crate::states::States;
use crate::threads::Threads;

/// A moment of a trace.
#[derive(Debug, Clone)]
pub struct Moment {
    /// When it is, in nanoseconds on the clock of the trace.
    pub time: u64,
    /// What was done.
    pub states: States,
    /// What threads were called.
    pub names: Threads,
    /// The open files.
    pub files: Files,
    /// Packets that could not be read as a whole.
    pub damage: u64,
}

impl Moment {
    /// The moment so many nanoseconds after the begin of a trace.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn new(trace: &Trace, since_begin: u64) -> Result<Self, Error> {
        let begin = trace.span().map(|(begin, _)| begin).unwrap_or_default();
        Self::found(trace, begin.saturating_add(since_begin), INTERVAL)
    }

    /// The moment at a time; a checkpoint is kept for each so many events.
    fn found(trace: &Trace, time: u64, interval: u64) -> Result<Self, Error> {
        let mut checkpoints = Checkpoints::open(trace);
        let mut at = checkpoints.before(time);
        let (damage, are_files_known) = (at.damage, Files::are_known(trace));
        let mut events = trace.events(at.time.map_or(0, |time| time.saturating_add(1)));
        let (mut ended, mut since) = (Vec::new(), 0);
        loop {
            // What has the time of the last event is before a checkpoint, too.
            if since >= interval && events.next_time()?.is_some_and(|next| Some(next) > at.time) {
                at.damage = damage + events.damage();
                checkpoints.keep(&at);
                since = 0;
            }
            let Some(event) = events.next_event()?.filter(|event| event.time <= time) else { break };
            at.names.see(&event);
            if are_files_known {
                at.files.see(&event);
            }
            at.states.see(&event, &mut ended);
            (at.time, since) = (Some(event.time), since + 1);
            ended.clear();
        }
        let Checkpoint { states, names, files, .. } = at;
        Ok(Self { time, states, names, files, damage: damage + events.damage() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::walk::tests::{Sample, trace};

    /// Sets the files of a trace back in time.
    fn rest(trace: &Trace) {
        for entry in std::fs::read_dir(trace.folder()).expect("a folder").flatten() {
            let file = std::fs::File::open(entry.path()).expect("ours");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("ours");
        }
    }

    #[test]
    fn a_moment_is_the_same_by_checkpoints() {
        let comms = ["one", "two", "three"];
        // Two of each time.
        let samples: Vec<Sample> = (0..40_u8)
            .map(|number| {
                let comm = comms[usize::from(number) % comms.len()];
                Sample { value: i32::from(number), comm, time: u64::from(number / 2) }
            })
            .collect();
        let (_place, trace) = trace(&samples);
        let found = |time, interval| {
            let Moment { states, names, .. } = Moment::found(&trace, time, interval).expect("readable");
            format!("{:?} {:?} {names:?}", states.threads, states.cpus)
        };
        let times: Vec<u64> = (999..1025).collect();
        let whole: Vec<String> = times.iter().map(|time| found(*time, u64::MAX)).collect();
        assert!(whole[3] != whole[5], "names change: {}", whole[5]);
        rest(&trace);
        found(1030, 7);
        let kept = std::fs::read_dir(trace.index().join("states-1")).expect("there are some").count();
        assert!(kept > 3, "{kept}");
        assert_eq!(times.iter().map(|time| found(*time, 7)).collect::<Vec<_>>(), whole);
    }
}
