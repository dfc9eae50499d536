//! How far a session is.

use std::collections::{HashMap, HashSet};

use judge::{Run, Summary};
use lab::event::Session;

use crate::words::split;

/// Counts the planned cases that have finished, and the Runs of a case that has not.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    names: HashSet<String>,
    repeats: HashMap<String, Repeats>,
    is_program: bool,
    pub(crate) total: usize,
    pub(crate) done: usize,
}

/// The Runs of a case so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    pub(crate) ended: u32,
    /// Of those, the ones in which the kernel was at fault.
    pub(crate) failed: u32,
}

impl Progress {
    pub(crate) fn plan(&mut self, session: &Session) {
        self.total = session.cases.len();
        self.names = session.cases.iter().cloned().collect();
        self.is_program = session.cases.iter().all(|case| *case == session.suite || split(case).0.is_none());
    }

    /// One of several Runs of a case: no case has finished.
    pub(crate) fn repeat(&mut self, run: &Run) -> Repeats {
        let repeats = self.repeats.entry(run.case.clone()).or_default();
        repeats.ended += 1;
        repeats.failed += u32::from(run.outcome.accuses_kernel());
        *repeats
    }

    /// Runs of `case` that have ended, until all of them have.
    pub(crate) fn repeats(&self, case: &str) -> Repeats {
        self.repeats.get(case).copied().unwrap_or_default()
    }

    /// A machine that did not boot is a Run and no planned case.
    pub(crate) fn finish(&mut self, run: &Run) {
        self.repeats.remove(&run.case);
        self.done += usize::from(self.names.contains(&run.case));
    }

    /// What the whole session says, in the words of the exit codes. A program that fails tells nothing
    /// about whose fault it is: kiln does not know what it tests.
    pub(crate) fn conclusion(&self, summary: Summary, interrupted: bool) -> String {
        let conclusion = match summary.exit_code() {
            1 if self.is_program && summary.crash + summary.hang == 0 => "the program failed",
            1 => "the kernel is at fault",
            _ if interrupted => return "interrupted".to_string(),
            3 => "broken, no verdict",
            4 => "nothing was run",
            _ => "all well",
        };
        format!("{conclusion}{}", if interrupted { ", interrupted" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(is_program: bool) -> Progress {
        Progress { is_program, ..Progress::default() }
    }

    #[test]
    fn a_program_that_fails_does_not_accuse_the_kernel() {
        let fail = Summary { fail: 1, ..Summary::default() };
        let crash = Summary { crash: 1, ..fail };
        assert_eq!(progress(true).conclusion(fail, false), "the program failed");
        assert_eq!(progress(true).conclusion(crash, false), "the kernel is at fault");
        assert_eq!(progress(false).conclusion(fail, false), "the kernel is at fault");
    }

    #[test]
    fn repeats_are_counted_until_their_case_has_finished() {
        let mut progress = Progress { names: HashSet::from(["a".into()]), total: 1, ..Progress::default() };
        let run = |outcome| Run { case: "a".into(), outcome, ..Run::unstarted() };
        let ended = [judge::Outcome::Pass, judge::Outcome::Hang, judge::Outcome::Broken].map(|outcome| {
            let Repeats { ended, failed } = progress.repeat(&run(outcome));
            (ended, failed, progress.done)
        });
        assert_eq!(ended, [(1, 0, 0), (2, 1, 0), (3, 1, 0)]);
        progress.finish(&run(judge::Outcome::Hang));
        assert_eq!((progress.repeats("a"), progress.done), (Repeats::default(), 1));
    }

    #[test]
    fn an_interruption_hides_no_fault() {
        let fail = Summary { fail: 1, not_run: 3, ..Summary::default() };
        assert_eq!(progress(false).conclusion(fail, true), "the kernel is at fault, interrupted");
        assert_eq!(progress(false).conclusion(Summary { fail: 0, ..fail }, true), "interrupted");
        assert_eq!(progress(false).conclusion(Summary { fail: 0, ..fail }, false), "broken, no verdict");
    }
}
