//! What `kiln race` prints.

use std::fmt::Write;
use std::time::Duration;

use measure::Unit;
use protocol::race::{ClockSource, Ended, RaceReport, Range, Spread, Statistics, Strategy};

use crate::figures::{count, figure, grouped};
use crate::safe::safe_line;
use crate::words::{counted, span};

/// A race as it stands, in a line: `12,400 rounds in 3.2 s, no hit`.
#[must_use]
pub fn progress(report: &RaceReport) -> String {
    format!("{} in {}, {}", rounds(report.rounds), elapsed(report.elapsed_us), hits(report.hits))
}

/// All about a race of this name, a fact a line.
#[must_use]
pub fn text(name: &str, report: &RaceReport) -> String {
    let mut out = String::new();
    let mut line = |what: &str, text: &str| {
        // Writing into a text cannot fail.
        let _ = writeln!(out, "{what:<11}{text}");
    };
    line("race", &safe_line(name));
    line("verdict", &verdict(report));
    line("rounds", &counts(report));
    line("strategy", &format!("{}, seed {}", strategy(report.strategy), report.seed));
    if let Some(range) = &report.range {
        line("delays", &delays(range));
    }
    if let Some(hits) = &report.hit_delays {
        let [min, median, max] = [hits.min_ns, hits.median_ns, hits.max_ns].map(time);
        line("hit at", &format!("{median} (median), {min} to {max}"));
    }
    if let Some(Statistics { a, b, starts, ends }) = &report.statistics {
        line("section A", &spread(a));
        line("section B", &spread(b));
        line("starts", &format!("{} (B after A, less the delay)", spread(starts)));
        line("ends", &format!("{} (A after B)", spread(ends)));
    }
    for note in notes(report) {
        line("note", note);
    }
    out
}

fn verdict(report: &RaceReport) -> String {
    let detail = report.detail.as_deref().map(|detail| format!(": {}", safe_line(detail)));
    let detail = detail.unwrap_or_default();
    match (report.ended, &report.first_hit) {
        (Ended::Hang, _) => format!("a section did not return{detail}"),
        (Ended::Taint, _) => format!("the kernel reported a defect of its own{detail}"),
        (_, Some(first)) => {
            format!("collided in round {}, after {}{detail}", count(first.round), elapsed(first.elapsed_us))
        }
        (Ended::Signal, None) => format!("interrupted; survived up to then{detail}"),
        (_, None) => format!("survived {} in {}{detail}", rounds(report.rounds), elapsed(report.elapsed_us)),
    }
}

fn counts(report: &RaceReport) -> String {
    let RaceReport { early, late, useless, disturbed, sampling, .. } = *report;
    let rest = [
        (sampling, "sampled the sections"),
        (disturbed, "disturbed"),
        (early, "early"),
        (late, "late"),
        (useless, "useless"),
    ];
    let rest = rest.into_iter().filter(|(number, _)| *number > 0);
    let rest: Vec<String> = rest.map(|(number, what)| format!("{} {what}", count(number))).collect();
    let all = format!("{}, {}", count(report.rounds), hits(report.hits));
    if rest.is_empty() { all } else { format!("{all}; {}", rest.join(", ")) }
}

fn delays(range: &Range) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a width for people")]
    let step = range.step_ps() as f64 / 1000.0;
    format!(
        "{} to {}, {} % covered in steps of {}",
        time(range.from_ns),
        time(range.to_ns),
        grouped(range.covered() * 100.0, 1),
        figure(step, &Unit::Nanoseconds)
    )
}

fn notes(report: &RaceReport) -> impl Iterator<Item = &'static str> {
    let unsettled = report.range.is_some() && !report.settled;
    [
        (report.one_cpu, "one CPU only: the sections take turns, and a collision is much less likely"),
        (unsettled, "the lengths of the sections did not settle: the range of delays is a guess"),
        (report.clock == ClockSource::Monotonic, "no usable time-stamp counter: delays are coarser"),
    ]
    .into_iter()
    .filter_map(|(applies, note)| applies.then_some(note))
}

fn strategy(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Mixture => "mixture",
        Strategy::Aligned => "aligned",
        Strategy::Uniform => "uniform",
        Strategy::LowDiscrepancy => "low-discrepancy",
        Strategy::Plain => "plain",
        Strategy::Published => "published",
    }
}

fn spread(spread: &Spread) -> String {
    format!("{} ± {}", time(spread.median_ns), time(spread.deviation_ns))
}

fn rounds(number: u64) -> String {
    if number == 1 { "1 round".to_owned() } else { format!("{} rounds", count(number)) }
}

fn hits(number: u64) -> String {
    match number {
        0 => "no hit".to_owned(),
        number => counted(usize::try_from(number).unwrap_or(usize::MAX), "hit"),
    }
}

fn elapsed(microseconds: u64) -> String {
    span(Duration::from_micros(microseconds))
}

#[expect(clippy::cast_precision_loss, reason = "a time for people")]
fn time(nanoseconds: i64) -> String {
    figure(nanoseconds as f64, &Unit::Nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::race::{Delays, FirstHit};

    fn report() -> RaceReport {
        RaceReport {
            strategy: Strategy::Mixture,
            seed: 7,
            ended: Ended::Time,
            elapsed_us: 20_000_123,
            rounds: 12_400,
            hits: 0,
            first_hit: None,
            hit_delays: None,
            early: 0,
            late: 0,
            useless: 0,
            disturbed: 210,
            sampling: 1024,
            settled: true,
            range: Some(Range {
                from_ns: -12_340,
                to_ns: 14_100,
                parts: 4096,
                visited: 3_800,
                widest_gap: 3,
            }),
            statistics: None,
            one_cpu: false,
            clock: ClockSource::Tsc,
            detail: None,
        }
    }

    #[test]
    fn a_race_that_survived_says_how_much_that_means() {
        insta::assert_snapshot!(text("fs/xfs-reflink-dio", &report()));
    }

    #[test]
    fn a_collision_says_when_and_where_it_was() {
        let spread = |median_ns| Spread { median_ns, deviation_ns: 35 };
        let report = RaceReport {
            ended: Ended::Hits,
            hits: 1,
            first_hit: Some(FirstHit { round: 3_360, elapsed_us: 5_900_000, delay_ns: Some(-310) }),
            hit_delays: Some(Delays { min_ns: -310, median_ns: -310, max_ns: -310 }),
            statistics: Some(Statistics {
                a: spread(12_000),
                b: spread(14_000),
                starts: spread(3),
                ends: spread(-2_000),
            }),
            settled: false,
            one_cpu: true,
            clock: ClockSource::Monotonic,
            detail: Some("block 7\u{1b}[2J differs".to_owned()),
            ..report()
        };
        insta::assert_snapshot!(text("fs/xfs-reflink-dio", &report));
        assert_eq!(progress(&report), "12,400 rounds in 20.0 s, 1 hit");
    }
}
