//! The searches that a problem asks for: between the kernels where it begins, and between those where it ends.

use std::collections::HashMap;
use std::path::Path;

use kernel::{Context, Locator};
use lab::request::{BuildOptions, Request, Selection, words::Words};
use ledger::{Ledger, LedgerError, OnKernel, Past, Problem, REQUEST, documents};
use serde::Deserialize;
use verdict::problem::{Series, Standing, State, Succession};

use crate::axis::short;
use crate::bisection::Conclusion;
use crate::question::Question;
use crate::request::{AxisRequest, BisectRequest, SearchRequest};

/// The document of a bisection that came to an end.
const BISECTION: &str = "bisection";

/// The suite of kiln's own cases that has all of them: where `kiln bisect` looks for one.
pub const ALL_CASES: &str = "full";

/// A search that tells more of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    first: Locator,
    last: Locator,
    fixed: bool,
}

/// All problems with where they stand, and the bisections that say so.
#[derive(Debug)]
pub struct KnownProblems {
    /// Those of the ledger, each with its kernels in the order of their succession.
    pub all: Vec<(Problem, Standing)>,
    /// All bisections.
    pub made: Vec<Made>,
}

/// A bisection that came to an end.
#[derive(Debug, Clone)]
pub struct Made {
    /// The name of its folder.
    pub folder: String,
    request: BisectRequest,
    conclusion: Conclusion,
}

/// What is read of its document.
#[derive(Deserialize)]
struct Concluded {
    conclusion: Conclusion,
}

impl KnownProblems {
    /// Reads them, with the bisections below a folder; trees of commits are asked for their order.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn read(
        ledger: &mut Ledger,
        bisections: &Path,
        context: &mut Context<'_>,
    ) -> Result<Self, LedgerError> {
        let (problems, made) = (ledger.problems()?, made(bisections));
        let succession = Succession::of(&problems, context);
        let with_standing = |mut problem| {
            succession.arrange(&mut problem);
            let standing = standing(&problem, &succession, &made);
            (problem, standing)
        };
        let all = problems.into_iter().map(with_standing).collect();
        Ok(Self { all, made })
    }
}

/// All bisections below `root` that came to an end, in the order of their folders' names.
#[must_use]
pub fn made(root: &Path) -> Vec<Made> {
    let requests: Vec<(String, BisectRequest)> = documents(root, REQUEST);
    let mut concluded: HashMap<String, Concluded> = documents(root, BISECTION).into_iter().collect();
    let made = |(folder, request)| {
        let Concluded { conclusion } = concluded.remove(&folder)?;
        Some(Made { folder, request, conclusion })
    };
    requests.into_iter().filter_map(made).collect()
}

/// What a session of this host was asked that shows a problem, and the case that does, if the folder of one is still there.
#[must_use]
pub fn request(root: &Path, problem: &Problem) -> Option<(Request, String)> {
    [&problem.first, &problem.last].into_iter().find_map(|seen| {
        let session = Past::open(&root.join(&seen.session)).filter(Past::is_own)?.session().ok()?;
        Some((session.request?, seen.case.clone()))
    })
}

/// Where a problem stands, whose kernels are in the order of their succession; it may have been bisected.
fn standing(problem: &Problem, succession: &Succession, made: &[Made]) -> Standing {
    let standing = Standing::of(problem, succession);
    let is_bisected = |series: &Series| {
        let found = Search::for_culprit(problem, series).and_then(|search| search.found(problem, made));
        found.is_some_and(|made| !made.culprits().is_empty())
    };
    let has_all = !standing.series.is_empty() && standing.series.iter().all(is_bisected);
    let state = if standing.state == State::Open && has_all { State::Bisected } else { standing.state };
    Standing { state, ..standing }
}

/// The searches that would tell more of a problem and were not made: first those for what brought it.
#[must_use]
pub fn pending(problem: &Problem, standing: &Standing, made: &[Made]) -> Vec<Search> {
    let series = &standing.series;
    let culprits = series.iter().filter_map(|of| Search::for_culprit(problem, of));
    let fixes = series.iter().filter_map(|of| Search::for_fix(problem, of));
    culprits.chain(fixes).filter(|search| search.found(problem, made).is_none()).collect()
}

impl Search {
    /// For the change that brought the problem: from the last kernel of a series without it to the first that has it. None where
    /// one of them is not known, or neither a package nor a commit of a tree of this host.
    #[must_use]
    pub fn for_culprit(problem: &Problem, series: &Series) -> Option<Self> {
        Self::between(problem, series.good.as_ref()?, &series.first, false)
    }

    /// For the change that fixed it: from the last kernel that has it to the first from which on it is gone.
    #[must_use]
    pub fn for_fix(problem: &Problem, series: &Series) -> Option<Self> {
        Self::between(problem, &series.last, series.fixed.as_ref()?, true)
    }

    fn between(problem: &Problem, first: &OnKernel, last: &OnKernel, fixed: bool) -> Option<Self> {
        if problem.first.is_boot {
            return None;
        }
        let package = |on: &OnKernel| on.kernel.parse().ok().filter(|it| matches!(it, Locator::Deb(_)));
        let (first, last) = match (&first.source, &last.source) {
            (Some(first), Some(last)) => {
                let tree = last.tree.as_ref()?;
                let commit =
                    |revision: &String| Locator::Git { tree: tree.clone(), revision: revision.clone() };
                (commit(&first.commit), commit(&last.commit))
            }
            _ => (package(first)?, package(last)?),
        };
        Some(Self { first, last, fixed })
    }

    fn axis(&self) -> AxisRequest {
        match (&self.first, &self.last) {
            (Locator::Git { revision: first, .. }, Locator::Git { tree, revision: last }) => {
                let (tree, first, last) = (tree.clone(), first.clone(), last.clone());
                AxisRequest::Commits { tree, first, last, paths: Vec::new(), first_parent: false }
            }
            (first, last) => AxisRequest::Packages { first: first.clone(), last: last.clone() },
        }
    }

    /// The last end, as the candidate is called that it would be.
    fn change(&self) -> String {
        match &self.last {
            Locator::Git { revision, .. } => revision.clone(),
            other => other.to_string(),
        }
    }

    /// How source becomes the kernels between, if they are built as in a session that asked for `request`.
    fn build(&self, request: &Request) -> BuildOptions {
        match request {
            Request::Run(run) if self.last.is_source() => run.kernel.build.clone(),
            _ => BuildOptions::default(),
        }
    }

    /// What is asked of a bisection of a case, as that ran in a session that asked for `request`; none where a bisection does not run
    /// such a case.
    #[must_use]
    pub fn request(&self, request: &Request, case: &str) -> Option<BisectRequest> {
        let cases = only(request, case)?;
        let Request::Run(run) = request else { return None };
        let question = match &cases {
            Selection::Program(_) => Question::Program(case.to_owned()),
            _ => Question::Case(case.to_owned()),
        };
        Some(BisectRequest {
            cases: Some(cases),
            case_limit: run.case_limit,
            search: SearchRequest { fixed: self.fixed, ..SearchRequest::default() },
            build: self.build(request),
            machine: run.machine.clone(),
            ..BisectRequest::new(self.axis(), question)
        })
    }

    /// What is searched for, and between which kernels: `what brought it, from deb:A to deb:B`; a commit is abbreviated.
    #[must_use]
    pub fn about(&self) -> String {
        let what = if self.fixed { "what fixed it" } else { "what brought it" };
        let name = |locator: &Locator| match locator {
            Locator::Git { revision, .. } => short(revision).to_owned(),
            other => other.to_string(),
        };
        format!("{what}, from {} to {}", name(&self.first), name(&self.last))
    }

    /// The arguments by which kiln is asked for it about a case, as that ran in a session that asked for `request`; none where
    /// `kiln bisect` does not run such a case.
    #[must_use]
    pub fn words(&self, request: &Request, case: &str) -> Option<Vec<String>> {
        let cases = only(request, case)?;
        let mut words = Words::new("bisect", &format!("{}..{}", self.first, self.change()));
        words.flag("--fixed", self.fixed);
        words.build(&self.build(request));
        words.machine(request.machine());
        match &cases {
            Selection::Suite { suite, patterns } if suite == ALL_CASES => words.each("--case", patterns),
            cases => words.selection(cases),
        }
        Some(words.finish())
    }

    /// The bisection that was this search for one of the problem's cases, if there is one, rather one that found the change. Its own
    /// sessions are known, too: often the two ends have come as close as they can, and what it found is the latter of them.
    #[must_use]
    pub fn found<'m>(&self, problem: &Problem, made: &'m [Made]) -> Option<&'m Made> {
        let ends = self.axis();
        let change = self.change();
        let is_this = |made: &Made| {
            let asked = &made.request;
            asked.search.fixed == self.fixed
                && asked.cases.as_ref().is_some_and(|cases| is_of(cases, problem))
                && (asked.axis == ends || made.culprits().contains(&change.as_str()))
        };
        let all = || made.iter().rev();
        all()
            .filter(|made| !made.culprits().is_empty())
            .find(|made| is_this(made))
            .or_else(|| all().find(|made| is_this(made)))
    }
}

/// Whether a selection is one of the problem's cases.
fn is_of(cases: &Selection, problem: &Problem) -> bool {
    match cases {
        Selection::Suite { patterns, .. } => patterns.len() == 1 && problem.cases.contains(&patterns[0]),
        Selection::Program(program) => {
            program.path.file_name().is_some_and(|name| problem.cases.contains(&*name.to_string_lossy()))
        }
        Selection::Selftests { .. } => false,
    }
}

impl Made {
    /// The changes that it found, as people call them; none if it could not tell.
    #[must_use]
    pub fn culprits(&self) -> Vec<&str> {
        match &self.conclusion {
            Conclusion::Culprits { candidates, .. } => candidates.iter().map(|it| it.name.as_str()).collect(),
            Conclusion::Suspects { .. } | Conclusion::Contradiction { .. } => Vec::new(),
        }
    }
}

/// What runs in a session, as far as it is this case; none where `kiln bisect` cannot run it by itself.
fn only(request: &Request, case: &str) -> Option<Selection> {
    let Request::Run(request) = request else { return None };
    let is_own = |suite: &String| machine::catalogue::cases().suites.contains(suite);
    match request.cases.only(case) {
        Selection::Suite { suite, patterns } if is_own(&suite) => {
            Some(Selection::Suite { suite: ALL_CASES.to_owned(), patterns })
        }
        Selection::Selftests { .. } => None,
        cases => Some(cases),
    }
}

#[cfg(test)]
mod tests;
