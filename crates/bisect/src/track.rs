//! From the states of a search to the points of an axis.

use verdict::bisection::{Order, State};

use crate::axis::{Axis, Point};

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
        let is_line = matches!(self.order(axis), Order::Line(_));
        // The last state of a line is the end itself.
        let inner = if is_line { count.saturating_sub(1) } else { count };
        [State::Before].into_iter().chain((0..inner).map(State::After)).chain([State::All])
    }
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
