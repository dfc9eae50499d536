//! How far a session is.

use std::collections::{HashMap, HashSet};

use judge::{Accused, Run, Summary};
use lab::event::Session;

use crate::estimate::Estimate;
use crate::words::split;

/// Counts the planned cases that have finished, and the Runs of a case that has not.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    names: HashSet<String>,
    repeats: HashMap<String, Repeats>,
    is_program: bool,
    /// Some failure accuses the kernel.
    is_kernel_accused: bool,
    pub(crate) estimate: Estimate,
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
        self.estimate.plan(session);
        self.names = session.cases.iter().cloned().collect();
        self.is_program = session.cases.iter().all(|case| *case == session.suite || split(case).0.is_none());
    }

    /// One of several Runs of a case: no case has finished.
    pub(crate) fn repeat(&mut self, run: &Run) -> Repeats {
        let repeats = self.repeats.entry(run.case.clone()).or_default();
        repeats.ended += 1;
        repeats.failed += u32::from(run.outcome.is_failure());
        *repeats
    }

    /// Runs of `case` that have ended, until all of them have.
    pub(crate) fn repeats(&self, case: &str) -> Repeats {
        self.repeats.get(case).copied().unwrap_or_default()
    }

    /// A machine that did not boot is a Run and no planned case.
    pub(crate) fn finish(&mut self, run: &Run) {
        self.repeats.remove(&run.case);
        self.estimate.finish(run);
        self.is_kernel_accused |= run.outcome.is_failure() && run.accused != Some(Accused::Program);
        self.done += usize::from(self.names.contains(&run.case));
    }

    /// What the whole session says, in the words of the exit codes.
    pub(crate) fn conclusion(&self, summary: Summary, interrupted: bool) -> String {
        let conclusion = match summary.exit_code() {
            1 if self.is_kernel_accused => "the kernel is at fault",
            1 => self.without_fault(summary),
            _ if interrupted => return "interrupted".to_string(),
            3 => "broken, no verdict",
            4 => "nothing was run",
            _ => "all well",
        };
        format!("{conclusion}{}", if interrupted { ", interrupted" } else { "" })
    }

    /// Programs failed, or cases did not end: whose fault that is depends on what they test, and the kernel reported nothing.
    fn without_fault(&self, summary: Summary) -> &'static str {
        match (summary.fail, self.is_program, self.total) {
            (0, true, ..=1) => "the program did not end, the kernel answers",
            (0, true, _) => "programs did not end, the kernel answers",
            (0, false, _) => "cases did not end, the kernel answers",
            (_, true, ..=1) => "the program failed",
            (_, true, _) => "programs failed, the kernel reported nothing",
            (_, false, _) => "cases failed, the kernel reported nothing",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::Outcome;

    /// The conclusion after a Run of each of these.
    fn conclusion(total: usize, runs: &[(Outcome, Option<Accused>)]) -> String {
        let mut progress = Progress { is_program: true, total, ..Progress::default() };
        let mut summary = Summary::default();
        for &(outcome, accused) in runs {
            progress.finish(&Run { outcome, accused, ..Run::unstarted() });
            summary.count(outcome);
        }
        progress.conclusion(summary, false)
    }

    #[test]
    fn a_program_that_fails_does_not_accuse_the_kernel() {
        let program = |outcome| (outcome, Some(Accused::Program));
        let kernel = |outcome| (outcome, Some(Accused::Kernel));
        let (fail, hang) = (program(Outcome::Fail), program(Outcome::Hang));
        assert_eq!(conclusion(1, &[fail]), "the program failed");
        assert_eq!(conclusion(1, &[hang]), "the program did not end, the kernel answers");
        assert_eq!(conclusion(2, &[hang]), "programs did not end, the kernel answers");
        assert_eq!(conclusion(2, &[hang, fail]), "programs failed, the kernel reported nothing");
        let cases = Progress { is_program: false, total: 2, ..Progress::default() };
        let summary = Summary { hang: 1, ..Summary::default() };
        assert_eq!(cases.conclusion(summary, false), "cases did not end, the kernel answers");
        for accusing in
            [kernel(Outcome::Fail), kernel(Outcome::Hang), kernel(Outcome::Crash), (Outcome::Fail, None)]
        {
            assert_eq!(conclusion(2, &[fail, accusing]), "the kernel is at fault");
        }
    }

    #[test]
    fn repeats_are_counted_until_their_case_has_finished() {
        let mut progress = Progress { names: HashSet::from(["a".into()]), total: 1, ..Progress::default() };
        let run = |outcome| Run { case: "a".into(), outcome, ..Run::unstarted() };
        let ended = [Outcome::Pass, Outcome::Hang, Outcome::Broken].map(|outcome| {
            let Repeats { ended, failed } = progress.repeat(&run(outcome));
            (ended, failed, progress.done)
        });
        assert_eq!(ended, [(1, 0, 0), (2, 1, 0), (3, 1, 0)]);
        progress.finish(&run(Outcome::Hang));
        assert_eq!((progress.repeats("a"), progress.done), (Repeats::default(), 1));
    }

    #[test]
    fn an_interruption_hides_no_fault() {
        let fail = Summary { fail: 1, not_run: 3, ..Summary::default() };
        let progress = Progress { is_kernel_accused: true, ..Progress::default() };
        assert_eq!(progress.conclusion(fail, true), "the kernel is at fault, interrupted");
        assert_eq!(progress.conclusion(Summary { fail: 0, ..fail }, true), "interrupted");
        assert_eq!(progress.conclusion(Summary { fail: 0, ..fail }, false), "broken, no verdict");
    }
}
