//! Statements about figures, for terminals and pages.

use measure::Kind;
use verdict::{Against, Comparison, Ended, Noise, Row, Runs, Verdict};

use super::rows::{is_event, name};
use crate::figures::{count, probability};
use crate::safe::safe_line;

/// Which figures these are.
pub(super) fn kind(comparison: &Comparison) -> String {
    let rows = || comparison.others.iter().flat_map(|against| &against.rows);
    let boots = |row: &Row| row.base.boots.len().max(row.new.boots.len());
    let most = rows().map(boots).max().unwrap_or(0);
    let unit = if comparison.kind == Kind::Recorded { "run" } else { "boot" };
    let boots = match most {
        0 => String::new(),
        1 => format!("; 1 {unit}"),
        _ => format!("; median of {most} {unit}s"),
    };
    match comparison.kind {
        Kind::Exact => format!("exact: instructions of one operation, counted{boots}"),
        Kind::Timed => format!("timed: time of one operation, sampled{boots}"),
        Kind::Recorded => format!("recorded: metrics of an experiment{boots}"),
    }
}

/// What the figures do not say, and what to do about it.
pub(super) fn honesty(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => {
            "Instructions are not time: caches, memory latency, branch prediction and contention between CPUs are \
             not in them; use --timed to measure on a machine whether it takes longer there. The difference of a \
             constant metric that is worse or better is work that was really added or removed. A varying metric costs \
             more in one boot than in another, since the kernel draws random numbers. \"undecided\" may be chance: \
             --boots 8 decides it."
        }
        Kind::Timed => {
            "These times hold for this host under its load at the time, not for other machines; without KVM they are \
             times of an emulator. The estimate is the median of all differences between a boot of one kernel and a \
             boot of the other, and not the difference of the two medians. \"same\" means that the whole interval lies within the smallest effect of interest \
             (--min-effect), \"undecided\" that more boots are needed (--budget)."
        }
        Kind::Recorded => {
            "Each run boots its machines and is one sample. A metric that is counted, and was the same in all runs on \
             each kernel, is compared exactly. All others are samples: the difference is an estimate, and \"same\" \
             means that the whole interval lies within the smallest effect of interest (--min-effect). Of all that is \
             called worse or better, on average at most 5 % is not. \"undecided\" means that more runs are needed \
             (--budget, --boots)."
        }
    }
}

/// How far this machine can be trusted; timed figures only.
pub(super) fn noise(comparison: &Comparison) -> Option<String> {
    if comparison.kind != Kind::Timed {
        return None;
    }
    let Some(Noise { measured, false_alarms, comparisons, floor }) = &comparison.noise else {
        return Some(
            "this machine's noise floor is not known: `kiln measure --calibrate` compares a kernel with itself"
                .to_owned(),
        );
    };
    let alarms = 100.0 * false_alarms;
    let (tried, day) = (count(u64::from(*comparisons)), measured.strftime("%F"));
    Some(format!(
        "this machine's noise floor: 95 % of A/A differences below {floor:.1} %, false alarms {alarms:.1} % of \
         {tried} tried (calibrated {day})"
    ))
}

/// A verdict, and a doubt where kernels that are compared with themselves differ as much on this machine.
pub(super) fn verdict(row: &Row, noise: Option<&Noise>) -> String {
    let is_below = |noise: &Noise| row.percent.is_some_and(|percent| percent.abs() < noise.floor);
    let claims = matches!(row.verdict, Verdict::Worse | Verdict::Better);
    let doubt = if claims && noise.is_some_and(is_below) { ", below the floor" } else { "" };
    format!("{}{doubt}", name(row.verdict))
}

/// `112 metrics: 3 worse, 5 better, 101 same, 3 undecided; 36 events in them: 36 same; 2 not measured`.
pub(super) fn totals(against: &Against) -> String {
    let (events, costs): (Vec<&Row>, _) = against.rows.iter().partition(|row| is_event(row));
    let metrics = match costs.len() {
        0 => "no metric was measured on both".to_owned(),
        1 => format!("1 metric: {}", counts(&costs)),
        many => format!("{many} metrics: {}", counts(&costs)),
    };
    let events = match events.len() {
        0 => String::new(),
        1 => format!("; 1 event in them: {}", counts(&events)),
        many => format!("; {many} events in them: {}", counts(&events)),
    };
    let missing = match against.missing.len() {
        0 => String::new(),
        missing => format!("; {missing} not measured"),
    };
    format!("{metrics}{events}{missing}")
}

/// `runs: base 5 of 5 passed; new 2 of 5 passed, 3 failed (expected: x): worse, p 0.048`.
pub(super) fn runs(runs: &Runs) -> String {
    let p = runs.p.map_or_else(String::new, |p| format!(", p {}", probability(p)));
    let verdict = name(runs.verdict);
    format!("runs: base {}; new {}: {verdict}{p}", ended(&runs.base), ended(&runs.new))
}

fn ended(ended: &Ended) -> String {
    let Ended { pass, fail, crash, hang, reason } = ended;
    let others = [(*fail, "failed"), (*crash, "crashed"), (*hang, "hung")];
    let others = others.iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!(", {count} {how}"));
    let reason = reason.as_ref().map_or_else(String::new, |reason| format!(" ({})", safe_line(reason)));
    format!("{pass} of {} passed{}{reason}", ended.total(), others.collect::<String>())
}

fn counts(rows: &[&Row]) -> String {
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let counts: Vec<String> = [Verdict::Worse, Verdict::Better, Verdict::Same, Verdict::Undecided]
        .into_iter()
        .filter(|verdict| of(*verdict) > 0)
        .map(|verdict| format!("{} {}", of(verdict), name(verdict)))
        .collect();
    counts.join(", ")
}
