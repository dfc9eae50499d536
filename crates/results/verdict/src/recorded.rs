//! What the runs of an experiment say: the boot is the sampling unit.
//!
//! All metrics that it records and the ends of its runs are judged together, by the rules of timed figures: the looks, the
//! order of the boots and the control of errors are the same.

use measure::{Measurement, Ran};

use crate::comparison::{Against, Ended, Ground, Row, Runs, Steadiness, Verdict};
use crate::matching::{Shared, against, matched};
use crate::timed::{Decision, Design, Pair, Sort, decide};
use judge::Outcome;

/// Decimals of the finest figure that is told from others.
const DECIMALS_MAX: usize = 15;

/// Compares the runs of an experiment by a design, with as many boots as there are.
#[must_use]
pub fn compare_recorded(base: &Measurement, new: &Measurement, design: &Design) -> Against {
    let (shared, missing) = matched(base, new, |boot| design.counts(boot));
    let [of_base, of_new] = [base, new].map(|side| runs(side, design));
    let failed = [&of_base, &of_new].map(|runs| failures(runs));
    let mut pairs: Vec<Pair<'_>> = shared.iter().map(pair).collect();
    pairs.push(Pair { base: &failed[0], new: &failed[1], sort: Sort::Failed });
    let mut decisions = decide(&pairs, design);
    let ended = decisions.pop().map(|Decision { p, verdict, .. }| Runs {
        base: ended(&of_base),
        new: ended(&of_new),
        p,
        verdict,
    });
    let rows = shared.into_iter().zip(decisions).map(|(metric, decision)| row(metric, decision));
    Against { runs: ended, ..against(new, rows.collect(), missing) }
}

/// How the runs ended that count.
fn runs<'a>(of: &'a Measurement, design: &Design) -> Vec<&'a Ran> {
    of.boots.iter().filter(|boot| design.counts(boot)).filter_map(|boot| boot.run.as_ref()).collect()
}

fn failures(runs: &[&Ran]) -> Vec<f64> {
    runs.iter().map(|run| if run.outcome == Outcome::Pass { 0.0 } else { 1.0 }).collect()
}

fn ended(runs: &[&Ran]) -> Ended {
    let mut ended = Ended::default();
    for run in runs {
        match run.outcome {
            Outcome::Pass => ended.pass += 1,
            Outcome::Crash => ended.crash += 1,
            Outcome::Hang => ended.hang += 1,
            Outcome::Fail | Outcome::Skip | Outcome::Broken => ended.fail += 1,
        }
        if run.outcome != Outcome::Pass {
            ended.reason.get_or_insert_with(|| run.reason.clone());
        }
    }
    ended
}

fn pair<'a>(metric: &'a Shared<'_>) -> Pair<'a> {
    let (base, new) = (metric.base.boots.as_slice(), metric.new.boots.as_slice());
    let step = step(base.iter().chain(new));
    let sort = if metric.metric.unit.is_timed() { Sort::Sampled(step) } else { Sort::Counted(step) };
    Pair { base, new, sort }
}

/// The last decimal place of the figures: what was rounded away makes no difference that can be seen.
fn step<'a>(figures: impl Iterator<Item = &'a f64>) -> f64 {
    let decimals =
        |figure: &f64| figure.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let most = figures.map(decimals).max().unwrap_or(0).min(DECIMALS_MAX);
    (0..most).fold(1.0, |step, _| step / 10.0)
}

fn row(metric: Shared<'_>, decision: Decision) -> Row {
    let Decision { change, interval, p, verdict } = decision;
    let (is_timed, more_is_better) = (metric.metric.unit.is_timed(), metric.metric.unit.more_is_better());
    let row = metric.row(if more_is_better { turned(verdict) } else { verdict });
    let is_claim = matches!(verdict, Verdict::Worse | Verdict::Better);
    let steadiness = (!is_timed && row.base.boots.len() > 1 && row.new.boots.len() > 1).then(|| {
        let is_constant = |boots: &[f64]| boots.windows(2).all(|two| two[0] == two[1]);
        let both = is_constant(&row.base.boots) && is_constant(&row.new.boots);
        if both { Steadiness::Constant } else { Steadiness::Varying }
    });
    let is_estimate = interval.is_some() && row.percent.is_some();
    Row {
        difference: if is_estimate { row.base.median.abs() * change } else { row.difference },
        percent: if is_estimate { Some(change * 100.0) } else { row.percent },
        interval: interval.filter(|_| is_estimate).map(|(low, high)| (low * 100.0, high * 100.0)),
        p,
        steadiness,
        ground: (is_claim && !is_timed).then_some(Ground::Boots),
        ..row
    }
}

/// The verdict where more is better.
fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Worse => Verdict::Better,
        Verdict::Better => Verdict::Worse,
        Verdict::Same | Verdict::Undecided => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_figures_is_their_last_decimal_place() {
        assert_eq!(step([3.0, 20.0].iter()), 1.0);
        assert!((step([3.25, 2.0, -1.5].iter()) - 0.01).abs() < 1e-12);
        assert!(step([0.1 + 0.2, 1e-300].iter()) > 0.0);
        assert_eq!(step([].iter()), 1.0);
    }
}
