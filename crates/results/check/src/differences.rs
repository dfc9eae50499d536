//! How cases ended before the patches and with them.

use std::collections::{BTreeMap, BTreeSet};

use judge::signature::Way;
use judge::{Outcome, Run};

use crate::document::{CaseChange, Change, Seen};

/// Lines of evidence that are kept of a Run; its session has all.
const EVIDENCE_MAX: usize = 12;

/// What came of comparing the Runs of two kernels.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Differences {
    /// Cases that ran on both.
    pub(crate) cases: usize,
    /// Those that failed on both in the same way.
    pub(crate) failed_before: usize,
    /// Those that ended in another way, the worst first.
    pub(crate) changes: Vec<CaseChange>,
}

/// Compares Runs by the names of their cases.
pub(crate) fn between(before: &[Run], after: &[Run]) -> Differences {
    let (before, after) = (by_name(before), by_name(after));
    let mut found = Differences::default();
    let names: BTreeSet<&Name<'_>> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (old, new) = (before.get(name).copied(), after.get(name).copied());
        let (is_boot, case) = *name;
        // A boot has a Run only if it went badly. A case that has none was not run: the boot before it says why.
        if !is_boot && (old.is_none() || new.is_none()) {
            continue;
        }
        found.cases += usize::from(!is_boot);
        match change(old, new) {
            Some(change) => found.changes.push(CaseChange {
                case: case.to_owned(),
                is_boot,
                change,
                before: seen(old),
                after: seen(new),
                culprit: None,
            }),
            None => found.failed_before += usize::from(fails(old)),
        }
    }
    found.changes.sort_by_key(|change| change.change);
    found
}

/// Whether it is a boot, and its name: a case may be called `boot`, too.
type Name<'r> = (bool, &'r str);

fn by_name(runs: &[Run]) -> BTreeMap<Name<'_>, &Run> {
    runs.iter().map(|run| ((run.is_boot, run.case.as_str()), run)).collect()
}

/// What the difference means; nothing where there is none.
fn change(before: Option<&Run>, after: Option<&Run>) -> Option<Change> {
    let outcome = |run: Option<&Run>| run.map_or(Outcome::Pass, |run| run.outcome);
    let way = |run: Option<&Run>| run.map(|run| Way::of(run.outcome, &run.reason));
    match (outcome(before), outcome(after)) {
        (Outcome::Broken, _) | (_, Outcome::Broken) => Some(Change::Undecided),
        _ if fails(before) && fails(after) => (way(before) != way(after)).then_some(Change::Different),
        _ if fails(after) => Some(Change::Worse),
        (_, Outcome::Pass) if fails(before) => Some(Change::Better),
        // A case that is skipped now may have lost what it tests.
        (before, after) => (before != after).then_some(Change::Different),
    }
}

fn fails(run: Option<&Run>) -> bool {
    run.is_some_and(|run| run.outcome.is_failure())
}

fn seen(run: Option<&Run>) -> Seen {
    let Some(run) = run else { return Seen::default() };
    let evidence = run.evidence.iter().take(EVIDENCE_MAX).cloned().collect();
    Seen { outcome: Some(run.outcome), reason: run.reason.clone(), evidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(case: &str, outcome: Outcome, reason: &str) -> Run {
        Run { case: case.to_owned(), outcome, reason: reason.to_owned(), ..Run::unstarted() }
    }

    fn changes(before: &[Run], after: &[Run]) -> Vec<(String, Change)> {
        between(before, after).changes.into_iter().map(|change| (change.case, change.change)).collect()
    }

    #[test]
    fn only_differences_are_reported() {
        use Outcome::{Broken, Crash, Fail, Hang, Pass, Skip};
        for (before, after, expected) in [
            (Pass, Pass, None),
            (Pass, Fail, Some(Change::Worse)),
            (Skip, Crash, Some(Change::Worse)),
            (Hang, Pass, Some(Change::Better)),
            (Fail, Fail, None),
            (Fail, Crash, Some(Change::Different)),
            (Pass, Skip, Some(Change::Different)),
            (Fail, Skip, Some(Change::Different)),
            (Pass, Broken, Some(Change::Undecided)),
            (Broken, Broken, Some(Change::Undecided)),
            (Broken, Fail, Some(Change::Undecided)),
        ] {
            let found = changes(&[run("a", before, "x")], &[run("a", after, "x")]);
            assert_eq!(
                found,
                expected.map(|change| ("a".to_owned(), change)).into_iter().collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn the_same_failure_is_no_difference_and_another_is() {
        let before = [run("a", Outcome::Fail, "WARNING in f at 10")];
        let found = between(&before, &[run("a", Outcome::Fail, "WARNING in f at 20")]);
        assert_eq!((found.cases, found.failed_before, found.changes.len()), (1, 1, 0));
        let after = [run("a", Outcome::Fail, "WARNING in g at 10")];
        assert_eq!(changes(&before, &after), [("a".to_owned(), Change::Different)]);
    }

    #[test]
    fn the_worst_comes_first_and_what_did_not_run_is_left_out() {
        let before = [
            run("a", Outcome::Fail, ""),
            run("b", Outcome::Pass, ""),
            run("c", Outcome::Pass, ""),
            run("boot", Outcome::Pass, ""),
        ];
        let dead = Run { is_boot: true, ..run("boot", Outcome::Crash, "panic") };
        let after = [run("a", Outcome::Pass, ""), run("b", Outcome::Hang, ""), dead];
        let named = |case: &str, change| (case.to_owned(), change);
        let expected = [named("b", Change::Worse), named("boot", Change::Worse), named("a", Change::Better)];
        assert_eq!(changes(&before, &after), expected);
        assert_eq!(between(&before, &after).cases, 2);
    }
}
