//! What jobs found, from the ledger; and one session as several jobs, each boot is one, put together.

use judge::Run;
use judge::repeats::joined;
use lab::Prepared;
use lab::event::Session;
use lab::request::RunPolicy;
use ledger::{Durations, Ledger, Past, Place, Progress, SessionKey, Wanted as KeptRun};

use crate::error::Error;
use crate::wanted::Wanted;
use crate::watch::carry_out;

/// What the jobs of a session found.
#[derive(Debug)]
pub struct Spread {
    /// The session as it would be here.
    pub session: Session,
    /// One Run for each case, with all Runs of all jobs, and the session in which it was made.
    pub runs: Vec<KeptRun>,
    /// Jobs without a result.
    pub missing: usize,
}

/// Runs a session as jobs of Slurm's, one for each boot. What the ledger has of it is not run again.
///
/// # Errors
///
/// As for [`carry_out`].
pub fn spread(
    prepared: &Prepared,
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Spread, Error> {
    let parts = prepared.request.policy.by_boots();
    let (session, durations) = (prepared.session()?, Durations::load(place.sessions));
    let wanted = (1..).zip(&parts).map(|(number, policy)| {
        Wanted::of((prepared, &session), policy, format!("{number} of {}", parts.len()), &durations)
    });
    let found = sessions(wanted.collect::<Result<_, _>>()?, place, emit)?;
    let found: Vec<Past> = found.into_iter().flatten().collect();
    let runs = put_together(&session.cases, &found);
    Ok(Spread { session, runs, missing: parts.len() - found.len() })
}

/// Runs sessions as jobs of Slurm's, and gives for each of them the one of the ledger that came to its end, in their order;
/// nothing where a job gave no result.
///
/// # Errors
///
/// As for [`carry_out`].
pub fn sessions(
    wanted: Vec<Wanted>,
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Vec<Option<Past>>, Error> {
    std::fs::create_dir_all(place.sessions)
        .map_err(|why| Error::Io { path: place.sessions.to_owned(), why })?;
    let asked: Vec<(SessionKey, RunPolicy)> =
        wanted.iter().map(|wanted| (wanted.key.clone(), wanted.request.policy.clone())).collect();
    carry_out(wanted, place, emit)?;
    let mut ledger = Ledger::open(place.sessions, &mut |_, _| {})?;
    ledger.refresh()?;
    asked.iter().map(|(key, policy)| Ok(ledger.carried_out(key, policy)?)).collect()
}

/// The Runs of each case in all sessions as one; those of a boot that went badly come first.
fn put_together(cases: &[String], sessions: &[Past]) -> Vec<KeptRun> {
    let all: Vec<(&Past, Vec<Run>)> = sessions.iter().map(|past| (past, past.runs())).collect();
    let boot = std::iter::once((judge::run::BOOT, true));
    let of_case = |(case, is_boot): (&str, bool)| {
        let is_wanted = |run: &&Run| run.case == case && run.is_boot == is_boot;
        let each = all.iter().filter_map(|(past, runs)| Some((*past, runs.iter().find(is_wanted)?.clone())));
        let (of, each): (Vec<&Past>, Vec<Run>) = each.unzip();
        let (stands, run) = joined(each)?;
        Some(KeptRun { past: of[stands].clone(), run })
    };
    boot.chain(cases.iter().map(|case| (&**case, false))).filter_map(of_case).collect()
}

#[cfg(test)]
mod tests {
    use judge::Outcome;
    use lab::{Event, Listener};
    use ledger::Recorder;

    use super::*;

    /// A session in which the case `a` ended so, twice in one boot.
    fn session(root: &std::path::Path, name: &str, outcome: Outcome) -> Past {
        let run = Run { case: "a".to_owned(), outcome, boot: 1, clone: 1, ..Run::unstarted() };
        let repeats = vec![judge::repeats::repeat(&run); 2];
        let mut recorder = Recorder::create(root, name).expect("room");
        recorder.on_event(&Event::Finished(Box::new(Run { repeats, ..run })));
        let directory = recorder.directory().to_owned();
        std::fs::write(directory.join("session.json"), "{}").expect("writable");
        recorder.finish().expect("written");
        Past::open(&directory).expect("kept")
    }

    #[test]
    fn the_runs_of_all_sessions_are_one_and_lead_to_the_one_that_failed() {
        let root = tempfile::tempdir().expect("a directory");
        let sessions = [("1", Outcome::Pass), ("2", Outcome::Crash), ("3", Outcome::Pass)];
        let sessions = sessions.map(|(name, outcome)| session(root.path(), name, outcome));
        let runs = put_together(&["a".to_owned(), "b".to_owned()], &sessions);
        assert_eq!(runs.len(), 1, "b has no Run");
        let KeptRun { past, run } = &runs[0];
        let failures = run.repeats.iter().filter(|repeat| repeat.outcome == Outcome::Crash).count();
        assert_eq!((run.outcome, run.boot, run.repeats.len(), failures), (Outcome::Crash, 2, 6, 2));
        assert_eq!(*past, sessions[1]);
    }
}
