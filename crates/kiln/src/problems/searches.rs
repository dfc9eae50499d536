//! Problems are bisected without anybody who types the commands.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};
use bisect::problem::{Made, pending};
use bisect::{BisectRequest, Bisection, Conclusion, Environment};
use lab::HostBackend;
use ledger::Problem;
use verdict::problem::Standing;

use super::request;
use crate::bisect::{Kept, search};
use crate::failure::complain;
use crate::signals::{interrupt_flag, interrupt_or_deadline};

/// How it ended.
pub(super) struct Searched {
    /// The user wants to stop.
    pub(super) is_interrupted: bool,
    /// Searches that came to nothing.
    pub(super) failed: usize,
}

/// Makes the searches that would tell more of these problems, in the time of `budget`; `sessions` is the folder with their Runs.
pub(super) fn make(
    problems: &[&(Problem, Standing)],
    made: &[Made],
    sessions: &Path,
    budget: Option<Duration>,
    color: bool,
) -> Result<Searched> {
    let user = interrupt_flag().context("signals")?;
    let interrupt = interrupt_or_deadline(budget).context("signals")?;
    let environment = Environment {
        backend: &HostBackend,
        interrupt: &interrupt,
        on_slurm: false,
        sessions: sessions.to_owned(),
        bisections: ledger::bisections_root(),
    };
    let mut searched = Searched { is_interrupted: false, failed: 0 };
    for (id, about, request) in problems.iter().flat_map(|problem| requests(problem, made, sessions)) {
        if !interrupt.load(Ordering::Relaxed) {
            complain(&format!("{id}: searching for {about}"));
            match one(&request, &environment, color) {
                Ok(found) => complain(&format!("{id}: {found}")),
                Err(error) if error.downcast_ref().is_some_and(bisect::Error::is_interrupt) => {}
                Err(error) => {
                    searched.failed += 1;
                    complain(&format!("{id}: {error:#}"));
                }
            }
        }
        if interrupt.load(Ordering::Relaxed) {
            searched.is_interrupted = user.load(Ordering::Relaxed);
            if !searched.is_interrupted {
                complain("the time of --budget is over: the next call goes on with what is left");
            }
            break;
        }
    }
    Ok(searched)
}

/// The searches of a problem: its id, what is searched for, and what is asked.
fn requests<'a>(
    (problem, standing): &'a (Problem, Standing),
    made: &[Made],
    sessions: &Path,
) -> impl Iterator<Item = (&'a str, String, BisectRequest)> {
    let ran = request(sessions, problem);
    pending(problem, standing, made).into_iter().filter_map(move |search| {
        let (ran, case) = ran.as_ref()?;
        Some((problem.id.as_str(), search.about(), search.request(ran, case)?))
    })
}

fn one(request: &BisectRequest, environment: &Environment<'_>, color: bool) -> Result<String> {
    let done = search(request, environment, None, color)?;
    let kept = Kept::new(request, &done)?;
    Ok(format!("{}; report in {}", found(&kept.bisection), done.directory().display()))
}

/// What a bisection found, in a few words.
fn found(bisection: &Bisection) -> String {
    let names = |candidates: &[bisect::Candidate]| {
        candidates.iter().map(|candidate| candidate.name.clone()).collect::<Vec<_>>().join(", ")
    };
    match &bisection.conclusion {
        _ if bisection.is_in_doubt() => "a check speaks against the change that was found".to_owned(),
        Conclusion::Culprits { candidates, .. } => format!("it is {}", names(candidates)),
        Conclusion::Suspects { candidates, .. } => format!("it is one of {}", names(candidates)),
        Conclusion::Contradiction { why } => why.clone(),
    }
}
