//! What several Runs of a case say together, as text.

use judge::run::StoppingRule;
use judge::{Outcome, Run};
use verdict::{BootRuns, Consistency, Nested, flaky};

use crate::words::why;

/// Percent from both ends of the scale, down to which one more decimal is of use.
const DECIMALS: [f64; 4] = [9.95, 0.995, 0.0995, 0.009_95];

/// One line without a subject, such as `intermittent: 3 of 20 failed in 1 of 5 boots, 15 % (95 % interval 4.1 to 40 %)`; nothing
/// of a case that was run once.
pub(crate) fn repeats(run: &Run) -> Option<String> {
    if run.repeats.is_empty() {
        return None;
    }
    let boots = flaky::boots(&run.repeats);
    let left_out = [Outcome::Broken, Outcome::Skip].map(|outcome| {
        let count = run.repeats.iter().filter(|repeat| repeat.outcome == outcome).count();
        (count > 0).then(|| format!("{count} {}", outcome.name()))
    });
    let left_out = left_out.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let Some(consistency) = Consistency::of(&run.repeats) else {
        return Some(format!("undecided: {left_out}"));
    };
    let separator = if left_out.is_empty() { "" } else { "; " };
    Some(format!("{}{separator}{left_out}", together(consistency, &boots, run)))
}

/// Who broke it, why, and what its repeats say.
pub(crate) fn why_and_repeats(run: &Run) -> String {
    let why = Some(why(run)).filter(|why| !why.is_empty());
    why.into_iter().chain(repeats(run)).collect::<Vec<_>>().join("; ")
}

fn together(consistency: Consistency, boots: &[BootRuns], run: &Run) -> String {
    let all: BootRuns = boots.iter().copied().sum();
    let (failures, total) = (all.failures, all.total());
    let within = within(boots);
    match consistency {
        Consistency::Steady => {
            let high = Nested::of(boots).estimate().high;
            format!("0 of {total} failed{within}, at most {} %", percent(high))
        }
        // One failure says nothing about the next.
        Consistency::Consistent if total == 1 => "1 of 1 failed".to_string(),
        Consistency::Consistent => format!("consistent: {failures} of {total}{within}"),
        Consistency::Mixed(ways) => format!("mixed: {failures} of {total} failed{within} in {ways} ways"),
        Consistency::Intermittent => match run.stopping_rule {
            StoppingRule::Fixed => {
                format!("intermittent: {failures} of {total} failed{within}, {}", share(boots))
            }
            StoppingRule::FirstFailure => {
                format!(
                    "intermittent: {failures} of {total} failed{within}; stopped at the first failure, so no rate"
                )
            }
            StoppingRule::Retry => {
                // The first Run is a failure by choice.
                let again = flaky::boots(run.repeats.get(1..).unwrap_or_default());
                let BootRuns { failures, passes } = again.iter().copied().sum();
                let total = failures + passes;
                format!("intermittent: failed, then {failures} of {total} again{within}, {}", share(&again))
            }
        },
    }
}

/// In how many boots, and in how many of them it failed if that is not all or none, where that is not one boot for each Run:
/// Runs of one boot are not independent.
pub(crate) fn within(boots: &[BootRuns]) -> String {
    let failing = boots.iter().filter(|boot| boot.failures > 0).count();
    match boots.len() {
        _ if boots.iter().all(|boot| boot.total() <= 1) => String::new(),
        1 => " in one boot".to_string(),
        count if failing == 0 || failing == count => format!(" in {count} boots"),
        count => format!(" in {failing} of {count} boots"),
    }
}

fn share(boots: &[BootRuns]) -> String {
    let nested = Nested::of(boots);
    let all: BootRuns = boots.iter().copied().sum();
    let share = if all.total() > 0 { f64::from(all.failures) / all.total() as f64 } else { 0.0 };
    let [share, low, high] = [share, nested.estimate().low, nested.estimate().high].map(percent);
    // One boot that fails may have had bad luck.
    let several = |fail: fn(&BootRuns) -> bool| boots.iter().filter(|boot| fail(boot)).count() > 1;
    let is_known = several(|boot| boot.failures > 0) && several(|boot| boot.passes > 0);
    let decided = decided(nested.correlation()).filter(|_| is_known);
    let decided = decided.map_or_else(String::new, |decided| format!("; {decided}"));
    format!("{share} % (95 % interval {low} to {high} %{decided})")
}

/// From this correlation on, and below the other, it is said where a failure is decided.
const AT_BOOT: f64 = 0.9;
const IN_THE_RUN: f64 = 0.1;

/// Where a failure is decided, as far as the correlation of the runs of one boot says.
pub(crate) fn decided(correlation: f64) -> Option<&'static str> {
    match correlation {
        AT_BOOT.. => Some("decided at boot"),
        ..IN_THE_RUN => Some("decided in the run"),
        _ => None,
    }
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

    /// Runs in boots of four.
    fn run(outcomes: &[(usize, Outcome, &str)]) -> Run {
        let repeats = outcomes.iter().flat_map(|&(count, outcome, reason)| {
            let repeat = Repeat {
                outcome,
                reason: reason.into(),
                duration: Duration::ZERO,
                boot: 0,
                clone: 0,
                seed: 0,
            };
            std::iter::repeat_n(repeat, count)
        });
        let in_boots = |(at, repeat): (u32, Repeat)| Repeat { boot: at / 4, ..repeat };
        Run { repeats: (0..).zip(repeats).map(in_boots).collect(), ..Run::unstarted() }
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
            "0 of 20 failed in 5 boots, at most 31 %",
            "consistent: 4 of 4 in one boot",
            "mixed: 4 of 4 failed in one boot in 2 ways",
            "intermittent: 3 of 20 failed in 1 of 5 boots, 15 % (95 % interval 1.4 to 45 %)",
            "intermittent: 1 of 17 failed in 1 of 5 boots, 5.9 % (95 % interval 1.5 to 60 %)",
            "intermittent: 2 of 18 failed in 1 of 5 boots, 11 % (95 % interval 2.1 to 62 %); 2 broken, 1 skip",
            "undecided: 3 broken, 1 skip",
            "1 of 1 failed",
            "intermittent: 1 of 17 failed in 1 of 5 boots; stopped at the first failure, so no rate",
            "0 of 20 failed in 5 boots, at most 31 %",
            "intermittent: failed, then 1 of 3 again in one boot, 33 % (95 % interval 4.1 to 86 %)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn it_is_said_where_a_failure_is_decided() {
        let of = |failures: [u32; 6]| {
            let boots = failures.map(|failures| BootRuns { failures, passes: 5 - failures });
            share(&boots)
        };
        assert!(of([5, 0, 0, 5, 0, 0]).ends_with("; decided at boot)"));
        assert!(of([1, 2, 2, 1, 2, 1]).ends_with("; decided in the run)"));
        assert!(of([4, 0, 3, 0, 0, 2]).ends_with(" %)"));
    }

    #[test]
    fn two_digits_tell_a_share_from_none_and_from_all() {
        let texts =
            [0.0, 1.0, 0.5, 0.161, 0.099_4, 0.099_6, 0.007_62, 0.000_4, 0.996_7, 0.965, 1e-9].map(percent);
        let expected = ["0", "100", "50", "16", "9.9", "10", "0.76", "0.040", "99.67", "96.5", "0.0000"];
        assert_eq!(texts, expected);
    }
}
