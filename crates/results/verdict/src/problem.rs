//! Where a problem stands in its life: what later kernels say about it.
//!
//! Kernels of one flavour and one stable series follow each other. Another flavour or another series says nothing about them: a
//! fix may not have been backported.

use kernel::version::text;
use ledger::{OnKernel, Problem};
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

/// The kernels of one flavour and one series, as far as they have the problem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The last kernel before the first that has it.
    pub good: Option<OnKernel>,
    /// The first kernel that has it.
    pub first: OnKernel,
    /// The last kernel that has it.
    pub last: OnKernel,
    /// The first kernel after that, if all from there on passed.
    pub fixed: Option<OnKernel>,
    /// How often so many later sessions pass though nothing has changed: by Fisher's exact test of the sessions from the first to
    /// the last kernel that has it, without the first failure, against those of all later kernels.
    pub chance: Option<f64>,
}

impl Standing {
    /// Where a problem stands by the Runs that are known; whether it is [`State::Bisected`] they do not say.
    #[must_use]
    pub fn of(problem: &Problem) -> Self {
        let series = all_series(&problem.kernels);
        let returned = has_returned(problem);
        let by_kernels = series.iter().map(Series::state).min().unwrap_or(State::Open);
        let state = if problem.closing.is_some() && !returned { State::Closed } else { by_kernels };
        Self { state, returned, series }
    }
}

impl Series {
    /// What people call it: `6.1 amd64`.
    #[must_use]
    pub fn name(&self) -> String {
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

/// Whether one of two kernels may follow the other.
fn is_same_series(a: &OnKernel, b: &OnKernel) -> bool {
    text::flavour(&a.release) == text::flavour(&b.release)
        && text::series(&a.release) == text::series(&b.release)
}

/// Each series that has the problem.
fn all_series(kernels: &[OnKernel]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (at, on) in kernels.iter().enumerate() {
        if on.failing > 0 && !all.iter().any(|known| is_same_series(&known.first, on)) {
            all.push(one_series(kernels, at));
        }
    }
    all
}

/// The series whose first kernel with the problem is the one at `first`.
fn one_series(kernels: &[OnKernel], first: usize) -> Series {
    let of_series = |on: &&OnKernel| is_same_series(on, &kernels[first]);
    let last = kernels.iter().rposition(|on| on.failing > 0 && of_series(&on)).unwrap_or(first);
    let later: Vec<&OnKernel> = kernels[last + 1..].iter().filter(of_series).collect();
    let is_gone = !later.is_empty() && later.iter().all(|on| on.failing == 0);
    let having = || kernels[first..=last].iter().filter(of_series);
    let sum = |of: fn(&OnKernel) -> u32| having().map(of).sum();
    let passed = later.iter().map(|on| on.sessions).sum();
    Series {
        good: kernels[..first].iter().rfind(of_series).cloned(),
        first: kernels[first].clone(),
        last: kernels[last].clone(),
        fixed: later.first().filter(|_| is_gone).map(|on| (*on).clone()),
        chance: is_gone.then(|| chance(sum(|on| on.sessions), sum(|on| on.failing), passed)),
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

/// Whether a problem was seen after it had been closed, where it was not known to be.
fn has_returned(problem: &Problem) -> bool {
    let Some(closing) = problem.closing else { return false };
    let had_it = |on: &OnKernel| on.first_failed.is_some_and(|first| first <= closing.closed);
    let has_it_again = |on: &&OnKernel| on.last_failed.is_some_and(|last| last > closing.closed);
    let is_old = |at: usize, on: &OnKernel| {
        closing.was_gone
            && problem.kernels[at..].iter().any(|later| had_it(later) && is_same_series(later, on))
    };
    problem.kernels.iter().enumerate().any(|(at, on)| has_it_again(&on) && !is_old(at, on))
}

#[cfg(test)]
mod tests;
