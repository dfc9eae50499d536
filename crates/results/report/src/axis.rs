//! The states of an axis from its first end to its last, and where the change is believed to be.

use std::ops::Range;

use bisect::Answer;
use bisect::Point;

/// Steps in which the width of columns is found: enough for any number of states.
const HALVINGS: usize = 40;

/// What was seen of a state, the more telling the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Nothing yet.
    Untested,
    /// It does not build, boot or do what the question needs.
    Untestable,
    /// It never shows what is looked for.
    Good,
    /// It shows now and then.
    Intermittent,
    /// It shows each time.
    Bad,
}

impl Mark {
    /// All but [`Mark::Untested`], for legends.
    pub(crate) const ALL: [Self; 4] = [Self::Good, Self::Bad, Self::Intermittent, Self::Untestable];

    /// From runs that showed it and runs that did not; without any, it cannot be tested.
    pub(crate) fn of(bad: u32, good: u32) -> Self {
        match (bad, good) {
            (0, 0) => Self::Untestable,
            (0, _) => Self::Good,
            (_, 0) => Self::Bad,
            _ => Self::Intermittent,
        }
    }

    /// One column wide.
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Untested => '·',
            Self::Untestable => '?',
            Self::Good => 'o',
            Self::Intermittent => '~',
            Self::Bad => 'x',
        }
    }

    /// In words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Untested => "untested",
            Self::Untestable => "untestable",
            Self::Good => "good",
            Self::Intermittent => "intermittent",
            Self::Bad => "bad",
        }
    }
}

/// A state.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    tested: bool,
    bad: u32,
    good: u32,
    /// The probability that the change leads to it.
    mass: f64,
}

impl State {
    fn mark(self) -> Mark {
        if self.tested { Mark::of(self.bad, self.good) } else { Mark::Untested }
    }
}

/// An axis: one state more than it has candidates, for each of them leads from one state to the next.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    states: Vec<State>,
}

/// States that share a column of a terminal or of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Which, from 0 for the first end.
    pub(crate) states: Range<usize>,
    /// The most telling of what was seen of them.
    pub(crate) mark: Mark,
    /// The probability that the change leads to one of them.
    pub(crate) mass: f64,
}

impl Axis {
    pub(crate) fn new(candidates: usize) -> Self {
        Self { states: vec![State::default(); candidates.saturating_add(1)] }
    }

    /// Adds what was seen; points that do not lie on the line between the ends leave no trace.
    pub(crate) fn see(&mut self, point: &Point, answer: &Answer) {
        let at = position(point, self.states.len() - 1);
        let Some(state) = at.and_then(|at| self.states.get_mut(at)) else { return };
        match answer {
            Answer::Runs { bad, good } => {
                state.bad = state.bad.saturating_add(*bad);
                state.good = state.good.saturating_add(*good);
            }
            Answer::CannotTest(_) => {}
            // Nobody knows yet what these values mean.
            Answer::Values(_) => return,
        }
        state.tested = true;
    }

    /// Replaces what is believed of each candidate.
    pub(crate) fn believe(&mut self, probabilities: &[f64]) {
        for (state, mass) in self.states.iter_mut().skip(1).zip(probabilities) {
            state.mass = if mass.is_finite() { mass.clamp(0.0, 1.0) } else { 0.0 };
        }
    }

    /// The states in at most `most` columns. Where there are more states, those that were tested and those that are
    /// probable have a column of their own before others have.
    pub(crate) fn columns(&self, most: usize) -> Vec<Column> {
        let shares = self.shares(most.max(1));
        let mut columns: Vec<Column> = Vec::new();
        let (mut before, mut last) = (0.0, None);
        for ((at, state), share) in self.states.iter().enumerate().zip(shares) {
            // Sums of fractions that should be whole may fall short of it.
            let place = ((before + 1e-6) as usize).min(most.max(1) - 1);
            before += share;
            match columns.last_mut().filter(|_| last == Some(place)) {
                Some(column) => {
                    column.states.end = at + 1;
                    column.mark = column.mark.max(state.mark());
                    column.mass += state.mass;
                }
                None => {
                    columns.push(Column { states: at..at + 1, mark: state.mark(), mass: state.mass });
                }
            }
            last = Some(place);
        }
        columns
    }

    /// The part of a column that each state gets, at most a whole one, so that all get `most` together.
    fn shares(&self, most: usize) -> Vec<f64> {
        let even = 1.0 / self.states.len() as f64;
        let weight = |state: &State| even + state.mass + f64::from(u8::from(state.tested));
        let share = |state: &State, scale: f64| (weight(state) * scale).min(1.0);
        // With the larger of these each state has a column of its own, which is too much unless there are as many.
        let (mut low, mut high) = (0.0, 1.0 / even);
        if self.states.len() > most {
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(low, high);
                let whole: f64 = self.states.iter().map(|state| share(state, middle)).sum();
                if whole > most as f64 { high = middle } else { low = middle }
            }
        }
        self.states.iter().map(|state| share(state, high)).collect()
    }
}

/// Where a point lies between the ends, from 0 for the first.
pub(crate) fn position(point: &Point, candidates: usize) -> Option<usize> {
    match point {
        Point::First => Some(0),
        Point::After(candidate) => candidate.checked_add(1).filter(|at| *at <= candidates),
        Point::Last => Some(candidates),
        // Where candidates can be taken one by one, a search adds one after the other.
        Point::With(these) => these.iter().copied().eq(0..these.len()).then_some(these.len()),
        Point::Without(_) => None,
    }
}

/// How high each column's probability stands beside the highest, from 0 for next to nothing to `levels`.
pub(crate) fn heights(columns: &[Column], levels: u32) -> Vec<u32> {
    let highest = columns.iter().map(|column| column.mass).fold(0.0, f64::max);
    let height = |column: &Column| {
        let part = column.mass / highest;
        if part >= 0.01 { (part * f64::from(levels)).ceil() as u32 } else { 0 }
    };
    columns.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: Answer = Answer::Runs { bad: 0, good: 3 };
    const BAD: Answer = Answer::Runs { bad: 3, good: 0 };

    fn signs(axis: &Axis, most: usize) -> String {
        axis.columns(most).iter().map(|column| column.mark.sign()).collect()
    }

    #[test]
    fn each_state_has_a_column_while_there_are_enough() {
        let mut axis = Axis::new(5);
        axis.see(&Point::First, &GOOD);
        axis.see(&Point::Last, &BAD);
        axis.see(&Point::After(1), &Answer::CannotTest("no".into()));
        axis.see(&Point::After(2), &GOOD);
        axis.see(&Point::After(2), &BAD);
        axis.see(&Point::After(5), &BAD);
        axis.see(&Point::Without(1), &GOOD);
        axis.see(&Point::With(vec![1]), &BAD);
        assert_eq!(signs(&axis, 6), "o·?~·x");
        axis.see(&Point::With(vec![0]), &GOOD);
        axis.see(&Point::With(vec![0, 1, 2, 3]), &BAD);
        assert_eq!(signs(&axis, 6), "oo?~xx");
        axis.see(&Point::With((0..9).collect()), &GOOD);
        axis.see(&Point::After(0), &Answer::Values(vec![1.0]));
        assert_eq!(signs(&axis, 6), "oo?~xx");
        axis.believe(&[0.0, f64::NAN, 0.75, 0.25, 0.001]);
        assert_eq!(heights(&axis.columns(6), 8), [0, 0, 0, 8, 3, 0]);
    }

    #[test]
    fn what_is_tested_and_what_is_probable_stays_apart() {
        let mut axis = Axis::new(14_000);
        let mut believed = vec![0.0; 14_000];
        believed[9_001..9_004].fill(1.0 / 3.0);
        axis.believe(&believed);
        for (point, answer) in [(0, &GOOD), (7_000, &GOOD), (9_000, &GOOD), (9_003, &BAD), (13_999, &BAD)] {
            axis.see(&Point::After(point), answer);
        }
        let signs = signs(&axis, 40);
        let order: String = signs.chars().filter(|sign| *sign != '·').collect();
        assert_eq!(order, "oooxx", "{signs}");
        assert!(heights(&axis.columns(40), 8).iter().filter(|height| **height > 0).count() >= 3);
    }

    proptest! {
        #[test]
        fn columns_cover_all_states_in_their_order(
            candidates in 0..300_usize, most in 0..80_usize,
            seen in prop::collection::vec((0..300_usize, 0..3_u32, 0..3_u32), 0..20),
            believed in prop::collection::vec(any::<f64>(), 0..300),
        ) {
            let mut axis = Axis::new(candidates);
            axis.believe(&believed);
            for (at, bad, good) in seen {
                axis.see(&Point::After(at), &Answer::Runs { bad, good });
            }
            let columns = axis.columns(most);
            prop_assert!(columns.len() <= most.max(1));
            let mut next = 0;
            for column in &columns {
                prop_assert_eq!(column.states.start, next);
                prop_assert!(column.states.end > next);
                next = column.states.end;
            }
            prop_assert_eq!(next, candidates + 1);
            prop_assert!(heights(&columns, 8).iter().all(|height| *height <= 8));
        }
    }
}
