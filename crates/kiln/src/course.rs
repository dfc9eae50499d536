//! From what was said about the course of a session to what is going to happen.

use std::collections::HashMap;
use std::path::Path;
use std::thread::available_parallelism;

use judge::{Blame, Outcome, Run};
use lab::event::Session;
use lab::{Isolation, Options, Repeats};
use machine::TimeoutScale;
use machine::{Engine, Spec};

use crate::cli::{Course, IsolationName};

/// Runs of a failing case beside the first.
const RETRIES: u32 = 3;

/// Memory of a machine beside that of its guest, in MiB: QEMU and what it has translated.
const OVERHEAD_MIB: u64 = 128;

impl Course {
    /// How cases are run in machines like these; a note where that is not what was asked for.
    pub(crate) fn options(&self, engine: Engine, specs: &[Spec]) -> (Options, Option<String>) {
        let (jobs, note) = self.jobs(specs);
        let options = Options {
            timeouts: TimeoutScale::new(engine),
            isolation: match self.isolation {
                IsolationName::Case => Isolation::Case,
                IsolationName::Suite => Isolation::Suite,
            },
            jobs,
            repeats: self.repeats(),
            seed: self.seed,
            durations: HashMap::new(),
            finished: Vec::new(),
        };
        (options, note)
    }

    fn repeats(&self) -> Repeats {
        match (self.until_fail, self.repeat) {
            (true, most) => Repeats::UntilFailure(most),
            (false, Some(times)) => Repeats::Times(times),
            (false, None) if self.no_retry => Repeats::OnFailure(0),
            (false, None) => Repeats::OnFailure(RETRIES),
        }
    }

    /// Machines at a time, within the memory of the host.
    fn jobs(&self, specs: &[Spec]) -> (usize, Option<String>) {
        let each = specs.iter().map(|spec| spec.memory_mib + OVERHEAD_MIB).max().unwrap_or(1);
        let cpus = specs.iter().map(|spec| spec.cpus as usize).max().unwrap_or(1).max(1);
        let available = ::host::available_memory_mib().unwrap_or(u64::MAX);
        let room = usize::try_from(available / each).unwrap_or(usize::MAX).max(1);
        match self.jobs.map(usize::from) {
            Some(asked) if asked > room => {
                let note = format!(
                    "-j {asked}: {room} machines at a time, for each may take {each} MiB and the host has \
                     {available} MiB left"
                );
                (room, Some(note))
            }
            Some(asked) => (asked, None),
            None => {
                let parallel = available_parallelism().map_or(1, std::num::NonZero::get);
                ((parallel / cpus).clamp(1, room), None)
            }
        }
    }
}

/// Runs of the last session like `session` that need not be made again, and a line about them.
pub(crate) fn resume(root: &Path, session: &Session, repeats: Repeats) -> (Vec<Run>, String) {
    let like = |past: &ledger::Past| {
        past.session().is_ok_and(|earlier| {
            (&earlier.identity, &earlier.machine, &earlier.suite, &earlier.cases)
                == (&session.identity, &session.machine, &session.suite, &session.cases)
        })
    };
    let Some(past) = ledger::sessions(root).into_iter().find(like) else {
        let text = "nothing to resume: no earlier session has this kernel, machine and cases";
        return (Vec::new(), text.to_string());
    };
    let is_done =
        |run: &Run| session.cases.contains(&run.case) && is_final(run) && is_often_enough(run, repeats);
    let runs: Vec<Run> = past.runs().into_iter().filter(is_done).collect();
    let text =
        format!("{} of {} cases are those of session {}", runs.len(), session.cases.len(), past.name());
    (runs, text)
}

/// Whether a Run says something about the kernel or the case; else it is missing.
fn is_final(run: &Run) -> bool {
    !matches!(run.blame, Some(Blame::Host | Blame::Kiln | Blame::Machine))
}

/// Whether the case was run as often as is asked for now; the earlier session may have been interrupted.
fn is_often_enough(run: &Run, repeats: Repeats) -> bool {
    let made = u32::try_from(run.repeats.len()).unwrap_or(u32::MAX).max(1);
    match repeats {
        Repeats::OnFailure(_) => true,
        _ if run.outcome == Outcome::Skip => true,
        Repeats::Times(times) => made >= times,
        Repeats::UntilFailure(most) => run.outcome != Outcome::Pass || most.is_some_and(|most| made >= most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Verb};
    use clap::Parser;
    use judge::run::Repeat;
    use std::time::Duration;

    fn course(words: &[&str]) -> Course {
        let words = ["kiln", "run", "host"].iter().chain(words);
        match Cli::try_parse_from(words).unwrap().verb {
            Verb::Run(said) => said.course,
            _ => panic!("it is a run"),
        }
    }

    #[test]
    fn failing_cases_are_repeated_unless_the_user_says_how_often() {
        assert_eq!(course(&[]).repeats(), Repeats::OnFailure(3));
        assert_eq!(course(&["--no-retry"]).repeats(), Repeats::OnFailure(0));
        assert_eq!(course(&["--repeat", "20"]).repeats(), Repeats::Times(20));
        assert_eq!(course(&["--until-fail"]).repeats(), Repeats::UntilFailure(None));
        assert_eq!(course(&["--until-fail", "--repeat", "9"]).repeats(), Repeats::UntilFailure(Some(9)));
    }

    #[test]
    fn a_case_that_was_interrupted_on_its_way_is_missing() {
        let run = |outcome, count| {
            let repeat =
                Repeat { outcome, reason: String::new(), duration: Duration::ZERO, clone: 1, seed: 1 };
            Run { outcome, repeats: vec![repeat; count], ..Run::unstarted() }
        };
        let (pass, fail) = (|count| run(Outcome::Pass, count), |count| run(Outcome::Fail, count));
        assert!(
            is_often_enough(&pass(0), Repeats::OnFailure(3))
                && is_often_enough(&fail(1), Repeats::OnFailure(3))
        );
        assert!(
            !is_often_enough(&pass(7), Repeats::Times(20)) && is_often_enough(&pass(20), Repeats::Times(20))
        );
        assert!(is_often_enough(&pass(0), Repeats::Times(1)));
        assert!(!is_often_enough(&pass(7), Repeats::UntilFailure(None)));
        assert!(is_often_enough(&pass(7), Repeats::UntilFailure(Some(7))));
        assert!(is_often_enough(&fail(7), Repeats::UntilFailure(None)));
        assert!(is_often_enough(&run(Outcome::Skip, 0), Repeats::Times(20)));
    }
}
