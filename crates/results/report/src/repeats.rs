//! What several Runs of a case say together, as text.

use judge::run::StoppingRule;
use judge::{Outcome, Run};
use verdict::{Consistency, Rate, flaky};

use crate::words::why;

/// Percent from both ends of the scale, down to which one more decimal is of use.
const DECIMALS: [f64; 4] = [9.95, 0.995, 0.0995, 0.009_95];

/// One line without a subject, such as `intermittent: 3 of 20 failed, 15 % (95 % interval 5.2 to 36 %)`; nothing of
/// a case that was run once.
pub(crate) fn repeats(run: &Run) -> Option<String> {
    if run.repeats.is_empty() {
        return None;
    }
    let rate = flaky::rate(&run.repeats);
    let left_out = [Outcome::Broken, Outcome::Skip].map(|outcome| {
        let count = run.repeats.iter().filter(|repeat| repeat.outcome == outcome).count();
        (count > 0).then(|| format!("{count} {}", outcome.name()))
    });
    let left_out = left_out.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let Some(consistency) = Consistency::of(&run.repeats) else {
        return Some(format!("undecided: {left_out}"));
    };
    let separator = if left_out.is_empty() { "" } else { "; " };
    Some(format!("{}{separator}{left_out}", together(consistency, rate, run.stopping_rule)))
}

/// Who broke it, why, and what its repeats say.
pub(crate) fn why_and_repeats(run: &Run) -> String {
    let why = Some(why(run)).filter(|why| !why.is_empty());
    why.into_iter().chain(repeats(run)).collect::<Vec<_>>().join("; ")
}

fn together(consistency: Consistency, rate: Rate, rule: StoppingRule) -> String {
    let (failures, total) = (rate.failures, rate.total());
    match consistency {
        Consistency::Steady => {
            format!("0 of {total} failed, at most {} %", percent(rate.interval().high))
        }
        // One failure says nothing about the next.
        Consistency::Consistent if total == 1 => "1 of 1 failed".to_string(),
        Consistency::Consistent => format!("consistent: {failures} of {total}"),
        Consistency::Mixed(ways) => format!("mixed: {failures} of {total} failed in {ways} ways"),
        Consistency::Intermittent => match rule {
            StoppingRule::Fixed => {
                format!("intermittent: {failures} of {total} failed, {}", share(rate))
            }
            StoppingRule::FirstFailure => {
                format!(
                    "intermittent: {failures} of {total} failed; stopped at the first failure, so no rate"
                )
            }
            StoppingRule::Retry => {
                let again = Rate { failures: failures.saturating_sub(1), ..rate };
                let (failures, total) = (again.failures, again.total());
                format!("intermittent: failed, then {failures} of {total} again, {}", share(again))
            }
        },
    }
}

fn share(rate: Rate) -> String {
    let interval = rate.interval();
    let [share, low, high] = [rate.estimate().unwrap_or_default(), interval.low, interval.high].map(percent);
    format!("{share} % (95 % interval {low} to {high} %)")
}

/// A fraction in percent, with two digits that tell it from 0 and from 100.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let distance = percent.min(100.0 - percent);
    let decimals = DECIMALS.iter().position(|least| distance >= *least).unwrap_or(DECIMALS.len());
    format!("{percent:.*}", if distance > 0.0 { decimals } else { 0 })
}

/// From here on, a probability is not told from certainty.
const SURE: f64 = 0.9999;

/// A probability in percent with its sign; one that is next to certain is `above` 99.99 %.
pub(crate) fn probability(probability: f64, above: &str) -> String {
    if probability >= SURE {
        format!("{above} 99.99 %")
    } else {
        format!("{} %", percent(probability.max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use judge::run::Repeat;

    use super::*;

    #[test]
    fn next_to_certain_is_not_rounded_to_certain() {
        assert_eq!(probability(0.999_95, ">"), "> 99.99 %");
        assert_eq!(probability(0.999_2, ">"), "99.920 %");
        assert_eq!(probability(-0.1, ">"), "0 %");
    }

    fn run(outcomes: &[(usize, Outcome, &str)]) -> Run {
        let repeats = outcomes.iter().flat_map(|&(count, outcome, reason)| {
            let repeat =
                Repeat { outcome, reason: reason.into(), duration: Duration::ZERO, clone: 0, seed: 0 };
            std::iter::repeat_n(repeat, count)
        });
        Run { repeats: repeats.collect(), ..Run::unstarted() }
    }

    #[test]
    fn each_kind_of_consistency_has_its_words() {
        use Outcome::{Broken, Crash, Fail, Pass, Skip};
        let texts = [
            run(&[]),
            run(&[(20, Pass, "")]),
            run(&[(4, Fail, "x")]),
            run(&[(3, Fail, "x"), (1, Crash, "x")]),
            run(&[(17, Pass, ""), (3, Fail, "x")]),
            run(&[(16, Pass, ""), (1, Fail, "x")]),
            run(&[(16, Pass, ""), (2, Fail, "x"), (2, Broken, "x"), (1, Skip, "x")]),
            run(&[(3, Broken, "x"), (1, Skip, "x")]),
            run(&[(1, Fail, "x")]),
            Run { stopping_rule: StoppingRule::FirstFailure, ..run(&[(16, Pass, ""), (1, Fail, "x")]) },
            Run { stopping_rule: StoppingRule::FirstFailure, ..run(&[(20, Pass, "")]) },
            Run { stopping_rule: StoppingRule::Retry, ..run(&[(2, Fail, "x"), (2, Pass, "")]) },
        ]
        .map(|run| repeats(&run).unwrap_or_default());
        let expected = [
            "",
            "0 of 20 failed, at most 16 %",
            "consistent: 4 of 4",
            "mixed: 4 of 4 failed in 2 ways",
            "intermittent: 3 of 20 failed, 15 % (95 % interval 5.2 to 36 %)",
            "intermittent: 1 of 17 failed, 5.9 % (95 % interval 1.0 to 27 %)",
            "intermittent: 2 of 18 failed, 11 % (95 % interval 3.1 to 33 %); 2 broken, 1 skip",
            "undecided: 3 broken, 1 skip",
            "1 of 1 failed",
            "intermittent: 1 of 17 failed; stopped at the first failure, so no rate",
            "0 of 20 failed, at most 16 %",
            "intermittent: failed, then 1 of 3 again, 33 % (95 % interval 6.1 to 79 %)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn two_digits_tell_a_share_from_none_and_from_all() {
        let texts =
            [0.0, 1.0, 0.5, 0.161, 0.099_4, 0.099_6, 0.007_62, 0.000_4, 0.996_7, 0.965, 1e-9].map(percent);
        let expected = ["0", "100", "50", "16", "9.9", "10", "0.76", "0.040", "99.67", "96.5", "0.0000"];
        assert_eq!(texts, expected);
    }
}
