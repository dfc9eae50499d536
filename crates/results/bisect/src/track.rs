//! From the states of a search to the points of an axis.

use std::collections::BTreeSet;

use verdict::bisection::{Order, State};

use crate::axis::Axis;
use crate::point::Point;

/// The candidates that a search is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Track {
    /// All, as they stand on the axis.
    Whole,
    /// Some, one after the other, on top of others that are held.
    Some {
        /// Candidates that are in every state, in ascending order.
        held: Vec<usize>,
        /// Those that are searched, in ascending order.
        open: Vec<usize>,
    },
}

impl Track {
    /// The track on which the search of an axis begins.
    pub(crate) fn of(axis: &dyn Axis) -> Self {
        if axis.is_separable() {
            Self::Some { held: Vec::new(), open: (0..axis.candidates().len()).collect() }
        } else {
            Self::Whole
        }
    }

    /// How its candidates stand to each other.
    pub(crate) fn order(&self, axis: &dyn Axis) -> Order {
        match self {
            Self::Whole => axis.order(),
            Self::Some { open, .. } => Order::Line(open.len()),
        }
    }

    /// The candidate that the search knows by `number`.
    pub(crate) fn candidate(&self, number: usize) -> usize {
        match self {
            Self::Whole => number,
            Self::Some { open, .. } => open[number],
        }
    }

    /// What the search knows of each of its candidates, for all of the axis.
    pub(crate) fn spread(&self, of_track: &[f64], all: usize) -> Vec<f64> {
        let mut spread = vec![0.0; all];
        for (number, value) in of_track.iter().enumerate() {
            spread[self.candidate(number)] = *value;
        }
        spread
    }

    /// Where on the axis a state of the search is, where `all` is how many candidates the axis has.
    pub(crate) fn point(&self, state: State, all: usize) -> Point {
        match self {
            Self::Whole => match state {
                State::Before => Point::First,
                State::After(number) => Point::After(number),
                State::All => Point::Last,
            },
            Self::Some { held, open } => {
                let count = match state {
                    State::Before => 0,
                    State::After(number) => number + 1,
                    State::All => open.len(),
                };
                with(held.iter().chain(&open[..count.min(open.len())]).copied().collect(), all)
            }
        }
    }

    /// All states of the search, each once.
    pub(crate) fn states(&self, axis: &dyn Axis) -> impl Iterator<Item = State> + use<> {
        let count = match self {
            Self::Whole => axis.candidates().len(),
            Self::Some { open, .. } => open.len(),
        };
        let order = self.order(axis);
        let with = (0..count).map(move |number| state_with(&order, number));
        [State::Before].into_iter().chain(with.filter(|state| *state != State::All)).chain([State::All])
    }
}

/// The states that a candidate stands on.
pub(crate) fn states_before(order: &Order, candidate: usize) -> Vec<State> {
    let parents: Vec<usize> = match order {
        Order::Line(_) => candidate.checked_sub(1).into_iter().collect(),
        Order::Graph(parents) => parents.get(candidate).cloned().unwrap_or_default(),
    };
    match parents.is_empty() {
        true => vec![State::Before],
        false => parents.into_iter().map(State::After).collect(),
    }
}

/// The state with a candidate and what that stands on: if these are all, it is the end itself.
pub(crate) fn state_with(order: &Order, candidate: usize) -> State {
    let is_end = match order {
        Order::Line(count) => candidate + 1 == *count,
        // Whoever is not the last has a child: then the last one stands on all.
        Order::Graph(parents) => {
            let mut alone: BTreeSet<usize> = (0..candidate).collect();
            candidate + 1 == parents.len() && {
                parents.iter().flatten().for_each(|parent| _ = alone.remove(parent));
                alone.is_empty()
            }
        }
    };
    if is_end { State::All } else { State::After(candidate) }
}

/// The point with just these candidates: at both ends it has a name of its own.
pub(crate) fn with(mut candidates: Vec<usize>, all: usize) -> Point {
    candidates.sort_unstable();
    candidates.dedup();
    match candidates.len() {
        0 => Point::First,
        count if count == all => Point::Last,
        _ => Point::With(candidates),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_a_part_are_on_top_of_what_is_held() {
        let track = Track::Some { held: vec![7], open: vec![0, 2, 5] };
        assert_eq!(track.point(State::Before, 9), Point::With(vec![7]));
        assert_eq!(track.point(State::After(1), 9), Point::With(vec![0, 2, 7]));
        assert_eq!(track.point(State::All, 9), Point::With(vec![0, 2, 5, 7]));
        assert_eq!(track.point(State::All, 4), Point::Last);
        assert_eq!(track.candidate(2), 5);
        let all = Track::Some { held: Vec::new(), open: vec![0, 1] };
        assert_eq!(all.point(State::Before, 2), Point::First);
        assert_eq!(all.point(State::After(0), 2), Point::With(vec![0]));
        assert_eq!(all.point(State::After(1), 2), Point::Last);
    }

    #[test]
    fn the_state_with_all_is_the_end() {
        let graph = |parents: &[&[usize]]| Order::Graph(parents.iter().map(|list| list.to_vec()).collect());
        assert_eq!(state_with(&Order::Line(3), 1), State::After(1));
        assert_eq!(state_with(&Order::Line(3), 2), State::All);
        assert_eq!(state_with(&graph(&[&[], &[], &[0, 1]]), 2), State::All);
        assert_eq!(state_with(&graph(&[&[], &[], &[1]]), 2), State::After(2));
        assert_eq!(state_with(&graph(&[&[], &[0], &[1]]), 1), State::After(1));
        assert_eq!(state_with(&graph(&[&[]]), 0), State::All);
    }
}
