//! Where a problem stands in its life: what later kernels say about it.
//!
//! Kernels of one series follow each other: [`Succession`]. Another flavour or another stable series says nothing about them: a fix
//! may not have been backported.

mod succession;

pub use succession::Succession;

use kernel::version::text;
use ledger::{OnKernel, Problem, Source};
use serde::Serialize;

/// How often later sessions may pass by chance where a problem is called gone.
const ERROR: f64 = 0.05;

/// The stations of a problem's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The latest kernels have it.
    Open,
    /// The same, and it is known which change brought it.
    Bisected,
    /// All later kernels passed, too rarely to exclude chance.
    FixCandidate,
    /// All later kernels passed, and that would hardly happen by chance: it can be closed.
    Verified,
    /// A user closed it, and it has not returned.
    Closed,
}

impl State {
    /// All, in the order of a life.
    pub const ALL: [Self; 5] = [Self::Open, Self::Bisected, Self::FixCandidate, Self::Verified, Self::Closed];

    /// Its name in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Bisected => "bisected",
            Self::FixCandidate => "fix candidate",
            Self::Verified => "verified",
            Self::Closed => "closed",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name().replace(' ', "-") == name)
    }
}

/// Where a problem stands, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Its state.
    pub state: State,
    /// It had been closed, and was seen again.
    pub returned: bool,
    /// Each flavour and series that has it.
    pub series: Vec<Series>,
}

/// The kernels that follow each other, as far as they have the problem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The last kernel before the first that has it, which that one follows.
    pub good: Option<OnKernel>,
    /// The first kernel that has it.
    pub first: OnKernel,
    /// The last kernel that has it.
    pub last: OnKernel,
    /// The first kernel that follows all that have it, if there is one.
    pub fixed: Option<OnKernel>,
    /// How often so many later sessions pass though nothing has changed: by Fisher's exact test of the sessions from the first to
    /// the last kernel that has it, without the first failure, against those of the kernels that follow all that have it.
    pub chance: Option<f64>,
}

impl Standing {
    /// Where a problem, whose kernels are in the order of their succession, stands by the Runs that are known; whether it is
    /// [`State::Bisected`] they do not say.
    #[must_use]
    pub fn of(problem: &Problem, succession: &Succession) -> Self {
        let series = succession.all_series(&problem.kernels);
        let returned = succession.has_returned(problem);
        let by_kernels = series.iter().map(Series::state).min().unwrap_or(State::Open);
        let state = if problem.closing.is_some() && !returned { State::Closed } else { by_kernels };
        Self { state, returned, series }
    }
}

impl Series {
    /// What people call it: `6.1 amd64`, or `~/linux boot x86_64`.
    #[must_use]
    pub fn name(&self) -> String {
        if let Some(Source { tree, build, .. }) = &self.first.source {
            let tree = tree.as_ref().map(|tree| tree.display().to_string());
            return [tree.as_deref(), Some(build)].into_iter().flatten().collect::<Vec<_>>().join(" ");
        }
        let release = &self.first.release;
        let flavour = text::flavour(release);
        let parts = [text::series(release), &flavour];
        let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if known.is_empty() { release.clone() } else { known.join(" ") }
    }

    fn state(&self) -> State {
        match self.chance {
            None => State::Open,
            Some(chance) if chance <= ERROR => State::Verified,
            Some(_) => State::FixCandidate,
        }
    }
}

impl Succession {
    /// Each series that has the problem.
    fn all_series(&self, kernels: &[OnKernel]) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        for (at, on) in kernels.iter().enumerate().filter(|(_, on)| on.failing > 0) {
            let is_it = |known: &Series| known.first == *on || self.is_same_series(&known.first, on);
            if !all.iter().any(is_it) {
                all.push(self.one_series(kernels, at));
            }
        }
        all
    }

    /// The series whose first kernel with the problem is the one at `at`.
    fn one_series(&self, kernels: &[OnKernel], at: usize) -> Series {
        let first = &kernels[at];
        let of_series = || kernels[at + 1..].iter().filter(|on| self.is_same_series(on, first));
        let having: Vec<&OnKernel> =
            std::iter::once(first).chain(of_series().filter(|on| on.failing > 0)).collect();
        let newest = self.newest(&having);
        let follows_all = |on: &OnKernel| newest.iter().all(|newest| self.follows(on, newest));
        let later: Vec<&OnKernel> = of_series().filter(|on| follows_all(on)).collect();
        let until_then = || {
            let others = of_series().filter(|on| self.follows(on, first) && !follows_all(on));
            std::iter::once(first).chain(others)
        };
        let passed = later.iter().map(|on| on.sessions).sum();
        let failing = having.iter().map(|on| on.failing).sum();
        let sessions = until_then().map(|on| on.sessions).sum();
        Series {
            good: kernels[..at].iter().rfind(|on| self.follows(first, on)).cloned(),
            first: first.clone(),
            last: having.last().map_or(first, |on| on).clone(),
            fixed: later.first().map(|on| (*on).clone()),
            chance: (!later.is_empty()).then(|| chance(sessions, failing, passed)),
        }
    }

    /// Those of the kernels, which are in order, that no other one follows.
    fn newest<'k>(&self, kernels: &[&'k OnKernel]) -> Vec<&'k OnKernel> {
        let mut newest: Vec<&OnKernel> = Vec::new();
        for &on in kernels.iter().rev() {
            if !newest.iter().any(|later| self.follows(later, on)) {
                newest.push(on);
            }
        }
        newest
    }

    /// Whether a problem was seen after it had been closed, where it was not known to be.
    fn has_returned(&self, problem: &Problem) -> bool {
        let Some(closing) = problem.closing else { return false };
        let had_it = |on: &&OnKernel| on.first_failed.is_some_and(|first| first <= closing.closed);
        let has_it_again = |on: &&OnKernel| on.last_failed.is_some_and(|last| last > closing.closed);
        let is_old = |on: &OnKernel| {
            let mut had = problem.kernels.iter().filter(had_it);
            closing.was_gone && had.any(|known| known == on || self.follows(known, on))
        };
        problem.kernels.iter().filter(has_it_again).any(|on| !is_old(on))
    }
}

/// The chance that none of the `failing` sessions is among `passed` ones that are drawn from all: Fisher's exact test, one-sided.
/// R. A. Fisher, The Design of Experiments, 1935. The first failure made it a problem and says nothing about how often it fails.
fn chance(sessions: u32, failing: u32, passed: u32) -> f64 {
    let (sessions, failing) = (sessions.saturating_sub(1), failing.saturating_sub(1));
    let draw = |taken: u32| {
        let left = sessions.saturating_sub(taken);
        f64::from(left) / f64::from(left.saturating_add(passed).max(1))
    };
    (0..failing.min(sessions)).map(draw).product()
}

#[cfg(test)]
mod tests;
