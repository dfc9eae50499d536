//! What a check comes to.

use crate::document::{Built, Change, Commit, SeriesCheck, Verdict};

/// What all that is known comes to.
#[must_use]
pub fn verdict(check: &SeriesCheck) -> Verdict {
    let changes: Vec<Change> = check
        .tests
        .iter()
        .flat_map(|tests| tests.changes.iter().map(|change| change.change))
        .chain(check.costs.iter().map(|change| change.change))
        .collect();
    let has = |wanted: Change| changes.contains(&wanted);
    if has_bad_build(check) || has(Change::Worse) {
        Verdict::Worse
    } else if !check.unchecked.is_empty() || has(Change::Undecided) {
        Verdict::Undecided
    } else if has(Change::Different) {
        Verdict::Different
    } else if has(Change::Better) {
        Verdict::Better
    } else {
        Verdict::Same
    }
}

/// Whether a patch brings warnings, or does not compile although something before it does.
fn has_bad_build(check: &SeriesCheck) -> bool {
    let compiles = |commit: &Commit| commit.build.locator().is_some();
    let mut did_compile = compiles(&check.base);
    check.patches.iter().any(|patch| {
        let is_bad = match &patch.build {
            Built::Failed { .. } => did_compile,
            Built::Kernel { new_warnings, .. } => !new_warnings.is_empty(),
            Built::NotTried => false,
        };
        did_compile |= compiles(patch);
        is_bad
    })
}

#[cfg(test)]
mod tests {
    use lab::request::Version;

    use super::*;
    use crate::document::{CaseChange, Seen, Tests};

    fn built(warnings: &[&str]) -> Built {
        let new_warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
        Built::Kernel { locator: "built:1".to_owned(), new_warnings }
    }

    fn check(builds: Vec<Built>, changes: &[Change]) -> Verdict {
        let unchecked = match builds.first() {
            Some(Built::Failed { .. }) => vec!["cases: the base does not build".to_owned()],
            _ => Vec::new(),
        };
        let mut commits = builds.into_iter().map(|build| Commit { build, ..Commit::default() });
        let change = |change: &Change| CaseChange {
            case: "a".to_owned(),
            is_boot: false,
            change: *change,
            before: Seen::default(),
            after: Seen::default(),
            culprit: None,
        };
        let tests = Tests { changes: changes.iter().map(change).collect(), ..Tests::default() };
        verdict(&SeriesCheck {
            version: Version,
            tree: String::new(),
            base: commits.next().expect("a base"),
            patches: commits.collect(),
            tests: Some(tests),
            costs: Vec::new(),
            operations: 0,
            verdict: Verdict::Same,
            unchecked,
            notes: Vec::new(),
            reproduce: Vec::new(),
        })
    }

    #[test]
    fn the_worst_decides() {
        let builds = || vec![built(&["of the base"]), built(&[])];
        for (changes, expected) in [
            (&[][..], Verdict::Same),
            (&[Change::Better], Verdict::Better),
            (&[Change::Better, Change::Different], Verdict::Different),
            (&[Change::Different, Change::Undecided], Verdict::Undecided),
            (&[Change::Undecided, Change::Worse], Verdict::Worse),
        ] {
            assert_eq!(check(builds(), changes), expected, "{changes:?}");
        }
    }

    #[test]
    fn a_patch_answers_for_its_own_build() {
        let failed = || Built::Failed { cause: "error".to_owned() };
        assert_eq!(check(vec![built(&[]), built(&["new"])], &[]), Verdict::Worse);
        assert_eq!(check(vec![built(&[]), failed(), built(&[])], &[]), Verdict::Worse);
        assert_eq!(check(vec![failed(), failed(), built(&[])], &[]), Verdict::Undecided);
        assert_eq!(check(vec![failed(), built(&[]), failed()], &[]), Verdict::Worse);
    }
}
