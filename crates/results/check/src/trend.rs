//! How the findings of static analysis in a tree came and went, from check to check.

use std::path::Path;

use kbuild::analysis::Tool;
use serde::Serialize;

use crate::document::SeriesCheck;

/// What static analysis found in one check of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The name of its folder, which begins with when it was.
    pub check: String,
    /// The commit before the patches.
    pub base: String,
    /// The subject of the last patch.
    pub subject: String,
    /// How many patches there were.
    pub patches: usize,
    /// The numbers of each analyser that ran.
    pub tools: Vec<Counts>,
}

/// Findings of an analyser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Which one.
    pub tool: Tool,
    /// With the patches and not before.
    pub new: usize,
    /// Before and not with the patches.
    pub fixed: usize,
    /// Before and with the patches.
    pub outstanding: usize,
}

/// The steps of a repository among checks with their names; those without static analysis say nothing.
#[must_use]
pub fn trend(repository: &Path, checks: Vec<(String, SeriesCheck)>) -> Vec<Step> {
    let step = |(name, check): (String, SeriesCheck)| {
        let analysis = check.analysis.filter(|analysis| analysis.repository == repository)?;
        let counts = |&(tool, _): &(Tool, String)| Counts {
            tool,
            new: analysis.new.iter().filter(|new| new.finding.tool == tool).count(),
            fixed: analysis.fixed.iter().filter(|finding| finding.tool == tool).count(),
            outstanding: analysis.outstanding.iter().filter(|finding| finding.tool == tool).count(),
        };
        Some(Step {
            check: name,
            base: check.base.hash,
            subject: check.patches.last().map(|patch| patch.subject.clone()).unwrap_or_default(),
            patches: check.patches.len(),
            tools: analysis.tools.iter().map(counts).collect(),
        })
    };
    checks.into_iter().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use kbuild::analysis::Finding;
    use kbuild::diagnostics::Severity;
    use lab::request::Version;

    use super::*;
    use crate::document::{Analysis, Commit, NewFinding, Verdict};

    fn check(repository: &str) -> SeriesCheck {
        let finding = |tool| Finding::new(tool, Severity::Warning, "odd");
        let analysis = Analysis {
            repository: repository.into(),
            tools: [Tool::Sparse, Tool::Gcc].map(|tool| (tool, String::new())).to_vec(),
            new: vec![NewFinding { finding: finding(Tool::Gcc), patch: None }],
            fixed: vec![finding(Tool::Sparse), finding(Tool::Sparse)],
            outstanding: vec![finding(Tool::Sparse)],
            ..Analysis::default()
        };
        let commit = |hash: &str| Commit {
            hash: hash.to_owned(),
            subject: format!("make {hash}"),
            ..Commit::default()
        };
        SeriesCheck {
            version: Version,
            tree: String::new(),
            base: commit("a"),
            patches: vec![commit("b"), commit("c")],
            also: Vec::new(),
            analysis: Some(analysis),
            tests: None,
            costs: Vec::new(),
            operations: 0,
            slight: 0,
            verdict: Verdict::Different,
            unchecked: Vec::new(),
            notes: Vec::new(),
            reproduce: Vec::new(),
        }
    }

    #[test]
    fn each_check_of_the_repository_is_a_step() {
        let without = SeriesCheck { analysis: None, ..check("/linux/.git") };
        let checks = [check("/linux/.git"), without, check("/other/.git")];
        let checks = ["1", "2", "3"].map(str::to_owned).into_iter().zip(checks).collect();
        let steps = trend(Path::new("/linux/.git"), checks);
        let [step] = &steps[..] else { panic!("{steps:?}") };
        assert_eq!((step.check.as_str(), step.base.as_str(), step.subject.as_str()), ("1", "a", "make c"));
        let counts = |counts: &Counts| (counts.tool, counts.new, counts.fixed, counts.outstanding);
        assert_eq!(
            step.tools.iter().map(counts).collect::<Vec<_>>(),
            [(Tool::Sparse, 0, 2, 1), (Tool::Gcc, 1, 0, 0)]
        );
        assert_eq!(step.patches, 2);
    }
}
