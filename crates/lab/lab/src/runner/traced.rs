//! What a kernel did in a Run becomes a trace.

use std::path::{Path, PathBuf};

use judge::Outcome;
use judge::run::file_name;
use machine::{Machine, RecordingMemory};
use protocol::trace::Choice;
use transcode::{FLIGHT, Failure, Follower, Ring, Summary};

use crate::options::Tracing;

/// A Run that is recorded.
pub(super) struct Traced {
    follower: Result<Follower, String>,
    flight: bool,
    /// The event that ends it.
    until: Option<Choice>,
}

impl Traced {
    /// Takes what the machine records in the Run of a case in this clone from now on.
    pub(super) fn start(machine: &dyn Machine, tracing: &Tracing, case: &str, clone: u32) -> Self {
        let start = || -> Result<Follower, String> {
            let RecordingMemory { file, place, size } =
                machine.recording().ok_or("its machine has no memory for it")?;
            let folder = free_folder(&tracing.folder, &file_name(case), clone);
            folder.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| error.to_string())?;
            let ring = Ring::new(file, place, size).map_err(|error| error.to_string())?;
            let has_tail = tracing.flight || tracing.request.until.is_some();
            Follower::start(ring, &folder, has_tail.then_some(FLIGHT)).map_err(|error| error.to_string())
        };
        Self { follower: start(), flight: tracing.flight, until: tracing.request.until.clone() }
    }

    /// Takes what is left, and gives what is to be said about it. A flight recorder keeps nothing of what is well.
    pub(super) fn finish(self, outcome: Outcome) -> Option<String> {
        let finished = self.follower.and_then(|it| it.finish().map_err(|error: Failure| error.to_string()));
        let is_kept = !self.flight || !outcome.is_well();
        match finished {
            Ok(summary) if is_kept => Some(note(&summary, self.until.as_ref())),
            Ok(summary) => {
                // What is left of it takes space and nothing else.
                let _ = summary.folder.map(std::fs::remove_dir_all);
                None
            }
            Err(why) => Some(format!("no trace: {why}")),
        }
    }
}

/// Where the trace goes: a case that was run before has one already.
fn free_folder(folder: &Path, case: &str, clone: u32) -> PathBuf {
    let first = folder.join(format!("{case}.trace"));
    if first.exists() { folder.join(format!("{case}.{clone}.trace")) } else { first }
}

fn note(summary: &Summary, until: Option<&Choice>) -> String {
    match (&summary.folder, &summary.refused) {
        (_, Some(why)) => format!("no trace: {}", why.text),
        (None, None) => "no trace: its machine recorded nothing".to_owned(),
        (Some(folder), None) => {
            let missing: Vec<&str> = summary.missing.iter().map(|(event, _)| event.as_str()).collect();
            let missing = if missing.is_empty() {
                String::new()
            } else {
                format!("; not recorded: {}", missing.join(", "))
            };
            let cut = if summary.cpus.is_none() { ", cut off" } else { "" };
            let happened = if summary.has_happened { "has ended it" } else { "did not happen" };
            let end = until.map(|event| format!("; {event} {happened}")).unwrap_or_default();
            let clock = summary.clock.filter(|clock| clock.is_aligned);
            let clock = clock.map(|clock| format!("; clock aligned within {} us", clock.error_us()));
            let (events, lost, clock) = (summary.counts.events, summary.lost(), clock.unwrap_or_default());
            format!("trace: {}: {events} events, {lost} lost{cut}{end}{clock}{missing}", folder.display())
        }
    }
}
