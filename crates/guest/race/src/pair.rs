//! Two threads, of which neither outlives the race.

use std::panic::resume_unwind;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{Builder, scope};

use harness::check::{Checked, Stop, broken};

use crate::barrier::Over;
use crate::tally::Tally;
use crate::whereabouts::{Doing, Whereabouts};

/// Why a thread makes no more rounds.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The race is over.
    Over,
    /// Its set-up or the judgement has failed.
    Failed(Stop),
}

impl From<Over> for Halt {
    fn from(_: Over) -> Self {
        Self::Over
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Failed(stop)
    }
}

/// What the rounds of a thread come to.
pub(crate) type Rounds = Result<(), Halt>;

/// The race is over when this thread leaves, also by a panic: the other one would wait for ever.
struct Leaves<'a>(&'a Tally, &'a Whereabouts);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.over().store(true, Relaxed);
        self.1.set(Doing::Gone);
    }
}

/// Executes `a` in this thread and `b` in another one, until both have returned.
///
/// # Errors
///
/// The failure of either.
pub(crate) fn run(tally: &Tally, a: impl FnOnce() -> Rounds, b: impl FnOnce() -> Rounds + Send) -> Checked {
    let [of_a, of_b] = tally.sides();
    let work_b = || {
        let _leaves = Leaves(tally, of_b);
        of_b.adopt();
        b()
    };
    scope(|threads| {
        let Ok(thread) = Builder::new().name("race-b".to_string()).spawn_scoped(threads, work_b) else {
            return broken("no thread for the second section: the limit of processes is reached");
        };
        let first = {
            let _leaves = Leaves(tally, of_a);
            of_a.adopt();
            a()
        };
        let second = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        [first, second].into_iter().try_for_each(|rounds| match rounds {
            Ok(()) | Err(Halt::Over) => Ok(()),
            Err(Halt::Failed(stop)) => Err(stop),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barrier::Wait;

    #[test]
    fn a_failure_of_one_ends_the_other() {
        for fails_a in [false, true] {
            let tally = Tally::new();
            let rounds = |fails: bool| {
                if fails { broken("as planned").map_err(Halt::from) } else { wait_for_the_end(&tally) }
            };
            let Stop(report) =
                run(&tally, || rounds(fails_a), || rounds(!fails_a)).expect_err("one has failed");
            assert_eq!(report.text, "as planned");
        }
    }

    fn wait_for_the_end(tally: &Tally) -> Rounds {
        Ok(Wait::new(tally.over(), false).until(|| false)?)
    }
}
