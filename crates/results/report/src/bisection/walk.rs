//! What is walked, and what was seen on the way: while a search goes on, and in the end.

use bisect::{Bisection, Kind, Question, StateReport, Threshold, Underway};
use measure::Unit;
use measure::quantile::median;

use super::candidate::NAME_MAX;
use crate::axis::Mark;
use crate::columns::fit;
use crate::figures::figure;
use crate::repeats::within;
use crate::safe::safe_line;
use crate::words::{brief, many, runs};

/// What is known of the axis of a search.
#[derive(Debug, Clone)]
pub(super) struct Walk<'a> {
    kind: Kind,
    question: &'a Question,
    fixed: bool,
    /// Names of the first end and of the last.
    pub(super) ends: [&'a str; 2],
    threshold: Option<Threshold>,
    pub(super) candidates: &'a [String],
    /// The chance of each candidate to be the one; nothing before there is something to believe.
    pub(super) probabilities: &'a [f64],
    /// What was tested, both ends among it.
    pub(super) states: Vec<&'a StateReport>,
}

impl<'a> From<&'a Bisection> for Walk<'a> {
    fn from(bisection: &'a Bisection) -> Self {
        let (first, last) = (&bisection.first, &bisection.last);
        Self {
            kind: bisection.kind,
            question: &bisection.question,
            fixed: bisection.fixed,
            ends: [&first.name, &last.name],
            threshold: bisection.threshold,
            candidates: &bisection.candidates,
            probabilities: &bisection.probabilities,
            states: bisection.states.iter().chain([&first.state, &last.state]).collect(),
        }
    }
}

impl<'a> From<&'a Underway> for Walk<'a> {
    fn from(underway: &'a Underway) -> Self {
        Self {
            kind: underway.kind,
            question: &underway.question,
            fixed: underway.fixed,
            ends: underway.ends.each_ref().map(String::as_str),
            threshold: underway.threshold,
            candidates: &underway.candidates,
            probabilities: underway.belief.as_ref().map_or(&[], |belief| &belief.probabilities),
            states: underway.states.iter().collect(),
        }
    }
}

impl Walk<'_> {
    /// What is walked: `40 commits from v6.1 to v6.2`.
    pub(super) fn range(&self) -> String {
        let [first, last] = self.ends.map(|name| fit(&brief(name), NAME_MAX));
        format!("{} from {first} to {last}", many(self.kind, self.candidates.len()))
    }

    /// What is searched for.
    pub(super) fn question(&self) -> String {
        let fixed = if self.fixed { "the fix of " } else { "" };
        format!("{fixed}{}", fit(&safe_line(&self.question.to_string()), 2 * NAME_MAX))
    }

    /// What was seen of a state; of one that was only measured, by the threshold.
    pub(super) fn mark(&self, state: &StateReport) -> Mark {
        let by_value = self.threshold.filter(|_| state.bad == 0 && state.good == 0);
        match (by_value, median(&state.values)) {
            (Some(threshold), Some(value)) if threshold.is_bad(value) => Mark::Bad,
            (Some(_), Some(_)) => Mark::Good,
            // Nobody knows yet what its values mean.
            (None, Some(_)) if state.bad == 0 && state.good == 0 => Mark::Untested,
            _ => Mark::of(state.bad, state.good),
        }
    }

    /// The same in a word; nothing while it is not known.
    pub(super) fn verdict(&self, state: &StateReport) -> &'static str {
        match self.mark(state) {
            Mark::Untested => "",
            mark => mark.word(),
        }
    }

    /// The result of a state: `3 of 14 runs bad`, or the value of the metric.
    pub(super) fn seen(&self, state: &StateReport) -> String {
        let unit = unit(self.question);
        let boots = match state.values.len() {
            1 => "1 boot".to_owned(),
            count => format!("median of {count} boots"),
        };
        match (median(&state.values), &state.untestable) {
            (Some(value), _) => format!("{} ({boots})", value_text(value, &unit)),
            (None, Some(why)) if self.mark(state) == Mark::Untestable => {
                format!("cannot be tested: {}", fit(&safe_line(why), 2 * NAME_MAX))
            }
            _ => format!("{} bad{}", runs(state.bad, state.good), within(&state.boots)),
        }
    }
}

/// A value with its unit.
pub(super) fn value_text(value: f64, unit: &Unit) -> String {
    let name = match unit {
        Unit::Instructions => " instructions".to_owned(),
        Unit::Own(own) => format!(" {}", safe_line(&own.name)),
        Unit::Nanoseconds | Unit::Count => String::new(),
    };
    format!("{}{name}", figure(value, unit))
}

/// The unit of what is asked.
pub(super) fn unit(question: &Question) -> Unit {
    match question {
        Question::Recorded(metric) => Unit::Own(metric.unit.clone()),
        Question::Metric { timed: true, .. } => Unit::Nanoseconds,
        // What else was counted than instructions has a name of its own behind that of the metric.
        Question::Metric { name, .. } if !name.contains(':') => Unit::Instructions,
        _ => Unit::Count,
    }
}
