//! What `kiln latency --sweep` prints.

use measure::Unit;
use measure::quantile::median;
use protocol::latency::{Latencies, Power, Watts};
use protocol::sweep::{Row, SweepReport};

use crate::columns::{Columns, hanging};
use crate::figures::{figure, number};
use crate::latency::{machine, time};
use crate::safe::safe_line;
use crate::words::counted;

const COLUMNS: Columns<10> = Columns {
    head: [
        "GOVERNOR",
        "INTERVAL",
        "POLICY",
        "RUNS",
        "MEDIAN",
        "99 %",
        "99.9 %",
        "MAXIMUM",
        "WATTS",
        "DEVIATION",
    ],
    right: &[1, 3, 4, 5, 6, 7, 8, 9],
    spared: &[],
};

/// Columns of a line.
const WIDTH: usize = 110;

/// Columns for the word before a note.
const INDENT: usize = 10;

/// A sweep as it stands, in a line: `7 of 30 measurements`.
#[must_use]
pub fn progress(report: &SweepReport) -> String {
    let all = report.rows.len() * usize::try_from(report.request.repeat).unwrap_or(0);
    format!("{} of {}", report.finished, counted(all, "measurement"))
}

/// All about a sweep: a line for each combination, then what the figures are, then what the reader must know.
#[must_use]
pub fn text(report: &SweepReport) -> String {
    let rows: Vec<[String; 10]> = report.rows.iter().map(row).collect();
    let widths = COLUMNS.widths(&rows, None);
    let heads = COLUMNS.heads();
    let table = std::iter::once(&heads).chain(&rows).map(|row| COLUMNS.line(row, &widths) + "\n");
    let stopped = report.rows.iter().filter_map(stopped);
    let notes = stopped.chain(notes(report)).flat_map(|(word, note)| hanging(word, INDENT, &note, WIDTH));
    let notes = notes.collect::<Vec<_>>().join("\n");
    format!("{}\n{notes}\n", table.collect::<String>())
}

/// Medians over the measurements of a combination, and the largest maximum.
fn row(row: &Row) -> [String; 10] {
    let middle = |of: fn(&Latencies) -> Option<u64>| {
        let values = row.runs.iter().filter_map(|run| of(&run.latencies)).map(|value| value as f64);
        median(&values.collect::<Vec<f64>>())
            .map_or_else(|| "-".to_owned(), |value| figure(value, &Unit::Nanoseconds))
    };
    let maximum = row.runs.iter().map(|run| run.latencies.maximum).max();
    let watts: Vec<f64> = row.runs.iter().filter_map(|run| run.power.mean()).collect();
    let deviation = standard_deviation(&watts);
    [
        row.governor.as_deref().map_or_else(|| "-".to_owned(), safe_line),
        time(row.interval_ns),
        row.policy.name().to_owned(),
        row.runs.len().to_string(),
        middle(|it| it.percentile(50_000)),
        middle(|it| it.percentile(99_000)),
        middle(|it| it.percentile(99_900)),
        maximum.map_or_else(|| "-".to_owned(), time),
        mean(&watts).map_or_else(|| "-".to_owned(), number),
        deviation.map_or_else(|| "-".to_owned(), number),
    ]
}

/// Why a combination has not all its measurements.
fn stopped(row: &Row) -> Option<(&'static str, String)> {
    let report = row.stopped.as_ref()?;
    let governor = row.governor.iter().map(|governor| format!("{}, ", safe_line(governor)));
    let place = governor.collect::<String>() + &format!("{}, {}", time(row.interval_ns), row.policy.name());
    Some((report.kind.name(), format!("{place}: {}", safe_line(&report.text))))
}

fn notes(report: &SweepReport) -> Vec<(&'static str, String)> {
    let mut notes = vec![(
        "figures",
        "medians of those of each run, and the maximum of all; runs of all combinations take turns"
            .to_owned(),
    )];
    if let Some(why) = &report.no_governors {
        notes.push(("governors", safe_line(why)));
    }
    if !report.drivers.is_empty() {
        notes.push(("drivers", safe_line(&report.drivers.join(", "))));
    }
    notes.extend(power(report).into_iter().map(|text| ("power", text)));
    let conditions = report.conditions.as_ref();
    notes.extend(conditions.and_then(machine).map(|text| (NOTE, text)));
    if report.interrupted {
        notes.push((NOTE, "interrupted: not all measurements were made".to_owned()));
    }
    notes
}

const NOTE: &str = "note";

/// What tells the power, and why it does not.
fn power(report: &SweepReport) -> Vec<String> {
    let mut texts: Vec<String> =
        report.rows.iter().flat_map(|row| &row.runs).map(|run| told(&run.power)).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn told(power: &Power) -> String {
    match power {
        Power::Unknown(why) => format!("cannot tell: {}", safe_line(why)),
        Power::Measured(Watts { source, .. }) => {
            format!("{}: mean of the runs, and standard deviation between them", source.name())
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use protocol::latency::{Policy, PowerSource};
    use protocol::sweep::{Governors, SweepRequest, SweepRun};
    use protocol::{Report, ReportKind};

    use super::*;

    fn run(median: u64, watts: Option<f64>) -> SweepRun {
        let histogram = vec![(median, 995), (8 * median, 5)];
        let latencies = Latencies { minimum: median, maximum: 9 * median, histogram, ..Latencies::default() };
        let measured = |mean| {
            Power::Measured(Watts {
                source: PowerSource::Rapl,
                samples: 10,
                mean,
                standard_deviation: 0.1,
                minimum: mean,
                maximum: mean,
            })
        };
        let power = watts.map_or_else(|| Power::Unknown("no RAPL and no \u{7}battery".to_owned()), measured);
        SweepRun { latencies, power }
    }

    fn report(watts: [Option<f64>; 3]) -> SweepReport {
        let request = SweepRequest {
            governors: Governors::All,
            policies: vec![Policy::Fifo, Policy::Other],
            repeat: 3,
            ..SweepRequest::default()
        };
        let mut rows = request.rows(&["performance".to_owned()]);
        let [first, second, third] = watts;
        rows[0].runs = vec![run(1024, first), run(1056, second), run(1040, third)];
        rows[1].stopped = Some(Report { kind: ReportKind::Skip, text: "no \u{1b}[31mroom".to_owned() });
        SweepReport {
            request,
            drivers: vec!["acpi-cpufreq".to_owned()],
            no_governors: None,
            conditions: None,
            rows,
            finished: 3,
            interrupted: false,
        }
    }

    #[test]
    fn each_combination_has_a_line_and_what_lacks_is_explained() {
        let report = report([Some(12.0), Some(14.0), Some(13.0)]);
        assert_eq!(progress(&report), "3 of 6 measurements");
        insta::assert_snapshot!(text(&report));
    }

    #[test]
    fn a_machine_that_cannot_tell_its_power_says_so() {
        let mut report = report([None; 3]);
        report.no_governors = Some("there are none: no driver of cpufreq".to_owned());
        report.rows.truncate(1);
        report.rows[0].governor = None;
        (report.drivers, report.interrupted) = (Vec::new(), true);
        insta::assert_snapshot!(text(&report));
    }
}
