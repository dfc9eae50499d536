//! A bisection as lines that stay, in the spirit of `git bisect log`.

use bisect::Answer;
use bisect::{Belief, Progress, Purpose};
use measure::Unit;

use crate::axis::Mark;
use crate::figures::{figure, number};
use crate::repeats::probability;
use crate::safe::safe_line;
use crate::words::{brief, many, runs, span};

/// What was said so far, as far as it matters for what comes.
#[derive(Debug, Default)]
pub(super) struct Log {
    purpose: Option<Purpose>,
    candidates: Vec<String>,
    left: String,
}

impl Log {
    /// What happened, in a line or two, if it is worth one.
    pub(super) fn rows(&mut self, progress: &Progress) -> Vec<String> {
        match progress {
            Progress::Begun { kind, ends, candidates, question, resumed } => {
                self.candidates.clone_from(candidates);
                let between = format!(
                    "{} from {} to {}",
                    many(*kind, candidates.len()),
                    brief(&ends.0),
                    brief(&ends.1)
                );
                let first = row("bisect", &format!("{between}: {}", safe_line(question)));
                let resumed = (*resumed > 0)
                    .then(|| row("resume", &format!("answers reused from an earlier session: {resumed}")));
                std::iter::once(first).chain(resumed).collect()
            }
            Progress::Testing { purpose, .. } if self.purpose.replace(*purpose) != Some(*purpose) => {
                vec![row("stage", about(*purpose))]
            }
            Progress::Tested { name, answer, values, reused, .. } => {
                vec![tested(name, answer, values, *reused)]
            }
            Progress::Belief(belief) => {
                let row = self.belief(belief);
                // What stands there already is no news.
                let is_news = std::mem::replace(&mut self.left, row.clone()) != row;
                is_news.then_some(row).into_iter().collect()
            }
            Progress::Note(text) => vec![row("note", &safe_line(text))],
            Progress::Testing { .. } | Progress::Working(_) => Vec::new(),
        }
    }

    fn belief(&self, belief: &Belief) -> String {
        let likely = likely(belief, &self.candidates).map(|text| format!("; {text}")).unwrap_or_default();
        row("left", &format!("{}{likely}", left(belief)))
    }
}

fn row(word: &str, text: &str) -> String {
    format!("{word:<6}  {text}")
}

/// What a test gave.
fn tested(name: &str, answer: &Answer, values: &[f64], reused: u32) -> String {
    let reused = if reused > 0 { format!(" ({reused} from earlier sessions)") } else { String::new() };
    let name = brief(name);
    match answer {
        Answer::CannotTest(why) => row("skip", &format!("{name}: {}", safe_line(why))),
        Answer::Runs { bad: 0, good: 0 } => row("skip", &format!("{name}: no run")),
        Answer::Runs { bad, good } => {
            let word = match Mark::of(*bad, *good) {
                Mark::Good => "good",
                _ => "bad",
            };
            let seen = if values.is_empty() { format!("{} bad", runs(*bad, *good)) } else { figures(values) };
            row(word, &format!("{name}: {seen}{reused}"))
        }
        Answer::Values(values) => row("value", &format!("{name}: {}{reused}", figures(values))),
    }
}

/// Values as they are, the first few.
fn figures(values: &[f64]) -> String {
    let shown = values.iter().take(5).map(|value| number(*value)).collect::<Vec<_>>().join(" ");
    if values.len() > 5 { format!("{shown} …") } else { shown }
}

/// What tests are for.
pub(crate) fn about(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Ends => "check both ends",
        Purpose::Search => "search",
        Purpose::Reduction => "reduce to the smallest set",
        Purpose::Proof => "proof",
    }
}

/// `4 steps, ~3.2 left, 5 min`; of what is left, nothing once that is next to nothing.
pub(crate) fn left(belief: &Belief) -> String {
    let steps = if belief.steps == 1 { "step" } else { "steps" };
    let states = (belief.steps_left * 10.0).round() / 10.0;
    if states <= 0.0 {
        return format!("{} {steps}", belief.steps);
    }
    let time =
        if belief.time_left.is_zero() { String::new() } else { format!(", {}", span(belief.time_left)) };
    format!("{} {steps}, ~{} left{time}", belief.steps, figure(states, &Unit::Count))
}

/// The most probable candidate with its probability.
pub(crate) fn likely(belief: &Belief, candidates: &[String]) -> Option<String> {
    let known =
        belief.probabilities.iter().zip(candidates).filter(|(probability, _)| probability.is_finite());
    let (likely, name) = known.max_by(|a, b| a.0.total_cmp(b.0))?;
    Some(format!("{} {}", probability(*likely, ">"), brief(name)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn nothing_left_is_not_reported() {
        let shown = |steps_left, seconds| {
            let (time_left, rate) = (Duration::from_secs(seconds), (1.0, true));
            left(&Belief { probabilities: Vec::new(), steps: 4, steps_left, time_left, rate })
        };
        assert_eq!(shown(3.24, 300), "4 steps, ~3.2 left, 5 min 0 s");
        assert_eq!(shown(3.24, 0), "4 steps, ~3.2 left");
        assert_eq!(shown(0.04, 3), "4 steps");
    }
}
