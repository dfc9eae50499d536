//! What a check comes to.

use crate::document::{Built, Change, Commit, NewFinding, SeriesCheck, Verdict};

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
    let builds_also = check.also.iter().map(|also| (&also.base, &also.patches[..]));
    let builds = [(&check.base, &check.patches[..])].into_iter().chain(builds_also);
    if builds.into_iter().any(|(base, patches)| has_bad_build(base, patches)) || has(Change::Worse) {
        Verdict::Worse
    } else if !check.unchecked.is_empty() || has(Change::Undecided) {
        Verdict::Undecided
    } else if has(Change::Different) || has_finding(check) {
        Verdict::Different
    } else if has(Change::Better) {
        Verdict::Better
    } else {
        Verdict::Same
    }
}

/// Whether static analysis finds something new.
fn has_finding(check: &SeriesCheck) -> bool {
    check.analysis.iter().flat_map(|analysis| &analysis.new).any(NewFinding::counts)
}

/// Whether a patch brings warnings, or does not compile although something before it does.
fn has_bad_build(base: &Commit, patches: &[Commit]) -> bool {
    let compiles = |commit: &Commit| commit.build.locator().is_some();
    let mut did_compile = compiles(base);
    patches.iter().any(|patch| {
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
    use kbuild::analysis::{Finding, Tool};
    use kbuild::diagnostics::Severity;
    use lab::request::Version;

    use super::*;
    use crate::document::{AlsoBuilt, Analysis, CaseChange, Seen, Tests};

    fn built(warnings: &[&str]) -> Built {
        let new_warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
        Built::Kernel { locator: "built:1".to_owned(), new_warnings }
    }

    fn check(builds: Vec<Built>, changes: &[Change]) -> Verdict {
        verdict(&document(builds, changes))
    }

    fn document(builds: Vec<Built>, changes: &[Change]) -> SeriesCheck {
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
        SeriesCheck {
            version: Version,
            tree: String::new(),
            base: commits.next().expect("a base"),
            patches: commits.collect(),
            also: Vec::new(),
            analysis: None,
            tests: Some(tests),
            costs: Vec::new(),
            operations: 0,
            slight: 0,
            verdict: Verdict::Same,
            unchecked,
            notes: Vec::new(),
            reproduce: Vec::new(),
        }
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
    fn a_patch_answers_for_all_configurations() {
        let mut check = document(vec![built(&[]), built(&[])], &[]);
        let failed = Commit { build: Built::Failed { cause: "error".to_owned() }, ..Commit::default() };
        let (base, patches) = (check.base.clone(), vec![failed]);
        check.also = vec![AlsoBuilt { configurations: Vec::new(), base, patches }];
        assert_eq!(verdict(&check), Verdict::Worse);
    }

    #[test]
    fn a_finding_is_for_a_person_to_judge_unless_it_is_of_style() {
        let verdict_of = |tool: Tool, severity: Severity| {
            let new = vec![NewFinding { finding: Finding::new(tool, severity, "odd"), patch: None }];
            let mut check = document(vec![built(&[]), built(&[])], &[Change::Better]);
            check.analysis = Some(Analysis { new, ..Analysis::default() });
            verdict(&check)
        };
        assert_eq!(verdict_of(Tool::Sparse, Severity::Warning), Verdict::Different);
        assert_eq!(verdict_of(Tool::Checkpatch, Severity::Error), Verdict::Different);
        assert_eq!(verdict_of(Tool::Checkpatch, Severity::Warning), Verdict::Better);
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
