//! The two states that show the difference.

use bisect::{Bisection, Conclusion, Point, StateReport};

use super::walk::Walk;
use crate::axis::{Mark, position};

/// One state without the change and one with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides<'a> {
    /// Without it: just before it, as far as that was tested.
    pub(super) without: &'a StateReport,
    /// With it.
    pub(super) with: &'a StateReport,
}

/// The sides of what was found; the ends where nothing closer is known.
pub(super) fn sides(bisection: &Bisection) -> Sides<'_> {
    let ends = Sides { without: &bisection.first.state, with: &bisection.last.state };
    let numbers = match &bisection.conclusion {
        Conclusion::Culprits { numbers, .. } | Conclusion::Suspects { numbers, .. } => numbers,
        Conclusion::Contradiction { .. } => return ends,
    };
    let is_alone = |state: &&StateReport| matches!(&state.point, Point::With(these) if these == numbers);
    if let Some(with) = all(bisection).find(is_alone) {
        return Sides { with, ..ends };
    }
    let (Some(low), Some(high)) = (numbers.iter().min(), numbers.iter().max()) else { return ends };
    let count = bisection.candidates.len();
    let at = |state: &StateReport| position(&state.point, count);
    let shows = |state: &StateReport| shows(bisection, state);
    let is_after = |state: &&StateReport| at(state) > Some(*high) && shows(state) == shows(ends.with);
    let with = all(bisection).filter(is_after).min_by_key(|state| at(state)).unwrap_or(ends.with);
    let is_before =
        |state: &&StateReport| at(state).is_some_and(|at| at <= *low) && shows(state) == shows(ends.without);
    let tried = bisection.proof.iter().filter_map(|check| check.state.as_ref());
    // In a graph only the proof knows which state stands before a change.
    let without = tried.filter(is_before).max_by_key(|state| at(state));
    let nearest = || all(bisection).filter(is_before).max_by_key(|state| at(state));
    Sides { without: without.or_else(nearest).unwrap_or(ends.without), with }
}

/// All states, those of the proof first: they have more runs.
fn all(bisection: &Bisection) -> impl Iterator<Item = &StateReport> {
    let proof = bisection.proof.iter().filter_map(|check| check.state.as_ref());
    proof.chain(&bisection.states).chain([&bisection.first.state, &bisection.last.state])
}

/// Whether a state shows what is looked for, if it could be tested.
fn shows(bisection: &Bisection, state: &StateReport) -> Option<bool> {
    match Walk::from(bisection).mark(state) {
        Mark::Untested | Mark::Untestable => None,
        Mark::Good => Some(false),
        Mark::Intermittent | Mark::Bad => Some(true),
    }
}
