//! What a job does on its node: it runs a session in a folder of its own, and answers with what was reported.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use judge::Outcome;
use lab::prepare::Context;
use lab::{Backend, Prepared, RunRequest, Waiting};
use ledger::{Hold, Past, Place, Progress, run_session};

use crate::answer::{Refusal, lines};
use crate::error::Error;
use crate::script::request;
use crate::submission::{answer, failed, lock};

/// Slurm signals all processes of a job that it ends. Machines may have died of it before kiln itself hears of it, which must not be taken
/// for a result.
const GRACE: Duration = Duration::from_secs(5);

/// How often is looked whether kiln has heard of it.
const TICK: Duration = Duration::from_millis(20);

/// Carries out the request of the job that has this place in the array of `script`.
///
/// # Errors
///
/// When the script has no such request, no answer can be written, and when the job is to stop: then it can be run again.
pub fn carry_out(
    script: &Path,
    index: u32,
    backend: &dyn Backend,
    interrupt: &AtomicBool,
    emit: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    let asked = request(script, index as usize)?;
    let (answer, lock) = (answer(&asked.folder, index), lock(&asked.folder, index));
    std::fs::create_dir_all(&asked.folder).map_err(failed(&asked.folder))?;
    // A job that Slurm gave up with its node may still be at work when it is run again on another.
    let held = File::options().create(true).append(true).open(&lock).map_err(failed(&lock))?;
    held.lock().map_err(failed(&lock))?;
    if answer.exists() {
        return Ok(());
    }
    let answered = match session(&asked.run, backend, interrupt, emit) {
        Err(error) if error.is_interrupt() => return Err(error),
        Err(error) => serde_json::to_vec(&Refusal { refused: error.to_string() })
            .map_err(|why| failed(&answer)(why.into()))?,
        Ok(lines) => lines,
    };
    host::write_atomically(&answer, &answered).map_err(failed(&answer))
}

/// Runs a session, and gives what was reported.
fn session(
    request: &RunRequest,
    backend: &dyn Backend,
    interrupt: &AtomicBool,
    emit: &mut dyn FnMut(Progress),
) -> Result<Vec<u8>, Error> {
    let mut progress = |news: kernel::News<'_>| emit(news.into());
    let waiting = Waiting { interrupt, progress: &mut progress };
    let prepared = Prepared::new(request, &mut Context { backend, waiting })?;
    // The nodes of a cluster may share the user's files, and SQLite is not for many hosts.
    let folder = tempfile::tempdir().map_err(failed(&std::env::temp_dir()))?;
    let place = Place { backend, sessions: folder.path(), interrupt };
    let hold = Hold::new(folder.path())?;
    let kept = run_session::<Error>(&prepared, place, &hold, emit)?;
    let is_broken = kept.runs.iter().any(|run| run.outcome == Outcome::Broken);
    if is_stopped(interrupt, if is_broken { GRACE } else { Duration::ZERO }) {
        return Err(Error::Interrupted(Vec::new()));
    }
    let path = folder.path().join(kept.name);
    let past = Past::open(&path).ok_or_else(|| failed(&path)(std::io::ErrorKind::NotFound.into()))?;
    lines(past.exported()?).map_err(failed(&path))
}

/// Whether the job is to stop, now or within some time.
fn is_stopped(interrupt: &AtomicBool, time: Duration) -> bool {
    let begun = Instant::now();
    while !interrupt.load(Ordering::Relaxed) && begun.elapsed() < time {
        sleep(TICK);
    }
    interrupt.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_late_is_waited_for() {
        let interrupt = AtomicBool::new(false);
        assert!(!is_stopped(&interrupt, Duration::ZERO));
        std::thread::scope(|scope| {
            scope.spawn(|| interrupt.store(true, Ordering::Relaxed));
            assert!(is_stopped(&interrupt, Duration::from_secs(600)));
        });
    }
}
