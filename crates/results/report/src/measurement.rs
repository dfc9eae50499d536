//! What `kiln measure` prints; [`metrics`]: the same in a page.

mod page;

use std::collections::HashSet;
use std::io::{self, Write};

use measure::quantile::median;
use measure::{Kind, Measurement, Metric, Unit, Value};

use crate::columns::{Columns, fit, hanging, wrap};
use crate::csv::{Table, number};
use crate::figures::{count, figure, unit};
use crate::json::document;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint};
use crate::words::named;

pub use page::metrics;

/// A narrow terminal goes without what else was counted, then without what only plugins know.
const COLUMNS: Columns<6> = Columns {
    head: ["METRIC", "MEDIAN", "USER", "KERNEL", "MIN TO MAX", "EVENTS"],
    right: &[1, 2, 3, 4],
    spared: &[5, 2, 3, 4],
};

/// Columns of a metric's name at most.
const NAME_MAX: usize = 56;

/// Columns for an Outcome and the gap after it.
const INDENT: usize = 8;

/// Columns of a line where nobody says how many there are.
const WIDTH: usize = 110;

/// The columns of the CSV; new ones are added at the end only.
const HEAD: [&str; 14] = [
    "label",
    "release",
    "metric",
    "unit",
    "min",
    "median",
    "max",
    "boots",
    "repetitions",
    "left_out",
    "user",
    "kernel",
    "outcome",
    "reason",
];

/// Prints a row for each operation in the order of the suite, and below them what could not be measured.
///
/// # Errors
///
/// When `out` does not take it.
pub fn table(
    measurement: &Measurement,
    width: Option<usize>,
    colour: bool,
    mut out: impl Write,
) -> io::Result<()> {
    let paint = Paint { colour };
    let subject = &measurement.subject;
    let columns = width.unwrap_or(WIDTH);
    writeln!(out, "{}", paint.paint(BOLD, &fit(&named(subject), columns)))?;
    for line in wrap(&kind(measurement), columns) {
        writeln!(out, "{line}")?;
    }
    let metrics = || measurement.metrics.iter();
    let rows: Vec<[String; 6]> = metrics()
        .filter(|metric| is_row(metric, measurement))
        .map(|metric| row(metric, measurement))
        .collect();
    if !rows.is_empty() {
        let widths = COLUMNS.widths(&rows, width);
        writeln!(out, "\n{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
        for row in &rows {
            writeln!(out, "{}", COLUMNS.line(row, &widths))?;
        }
        writeln!(out)?;
    }
    let mut told = HashSet::new();
    // An event that this kernel has no function for is missing in each operation.
    let missing = metrics().filter(|metric| told.insert(missing_as(metric))).filter_map(|metric| {
        let name = safe_line(missing_as(metric));
        match &metric.not_measured {
            Some(why) => Some((why.outcome.name(), format!("{name}: {}", safe_line(&why.reason)))),
            None => metric.values.is_empty().then(|| ("none", format!("{name}: no figure and no reason"))),
        }
    });
    let notes = measurement.notes.iter().map(|note| ("note", safe_line(note)));
    for (word, text) in missing.chain(notes) {
        for line in hanging(word, INDENT, &text, columns) {
            writeln!(out, "{}", paint.paint(DIM, &line))?;
        }
    }
    out.flush()
}

/// Writes the whole measurement as one JSON document: its field names are those of [`Measurement`].
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(measurement: &Measurement, out: impl Write) -> io::Result<()> {
    document(measurement, out)
}

/// Writes a line with the names of the columns and one for each metric. What is not known is empty; times are in
/// nanoseconds.
///
/// # Errors
///
/// When `out` does not take it.
pub fn csv(measurement: &Measurement, out: impl Write) -> io::Result<()> {
    let mut table = Table::new(&HEAD, out)?;
    for metric in &measurement.metrics {
        table.record(&fields(metric, measurement))?;
    }
    table.finish()
}

/// Which figures these are.
fn kind(measurement: &Measurement) -> String {
    let boots = match measurement.boots.len() {
        1 => "1 boot".to_owned(),
        boots => format!("{boots} boots"),
    };
    match measurement.kind {
        Kind::Exact => format!("instructions of one operation, counted; median of {boots}"),
        Kind::Timed => format!("time of one operation on this host, sampled; median of {boots}"),
        Kind::Recorded => format!("metrics of an experiment; median of {boots}"),
    }
}

/// What a metric is called if it is not measured: an event by its own name.
fn missing_as(metric: &Metric) -> &str {
    match event(metric) {
        Some((_, name)) if metric.not_measured.is_some() => name,
        _ => &metric.name,
    }
}

/// What is counted within an operation stands beside that.
fn is_row(metric: &Metric, measurement: &Measurement) -> bool {
    let operation = event(metric).map(|(operation, _)| operation);
    let is_beside = operation.is_some_and(|name| measurement.metrics.iter().any(|other| other.name == name));
    !metric.values.is_empty() && !is_beside
}

/// The operation within which this is counted, and what it is.
fn event(metric: &Metric) -> Option<(&str, &str)> {
    metric.name.rsplit_once(':').filter(|_| metric.unit == Unit::Count)
}

fn row(metric: &Metric, measurement: &Measurement) -> [String; 6] {
    let Range { min, median, max } = range(&metric.values);
    let text = |value| figure(value, &metric.unit);
    let apart = metric.detail.as_ref();
    [
        fit(&safe_line(&metric.name), NAME_MAX),
        text(median),
        apart.map(|detail| count(detail.user)).unwrap_or_default(),
        apart.map(|detail| count(detail.kernel)).unwrap_or_default(),
        if min < max { format!("{} to {}", text(min), text(max)) } else { String::new() },
        events(metric, measurement),
    ]
}

/// What happened within one operation: `1 syscalls, 2 context-switches`.
fn events(metric: &Metric, measurement: &Measurement) -> String {
    let within = measurement.metrics.iter().filter_map(|other| Some((other, event(other)?)));
    let happened = within
        .filter(|(_, (operation, _))| *operation == metric.name)
        .map(|(other, (_, name))| (range(&other.values).median, name))
        .filter(|(median, _)| *median > 0.0);
    happened
        .map(|(median, name)| format!("{} {}", figure(median, &Unit::Count), safe_line(name)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn fields(metric: &Metric, measurement: &Measurement) -> [String; HEAD.len()] {
    let Range { min, median, max } = range(&metric.values);
    let sum = |of: fn(&Value) -> u32| metric.values.iter().map(|value| u64::from(of(value))).sum::<u64>();
    let (why, detail) = (metric.not_measured.as_ref(), metric.detail.as_ref());
    [
        measurement.subject.label.clone(),
        measurement.subject.release.clone(),
        metric.name.clone(),
        unit(&metric.unit).to_owned(),
        number(Some(min)),
        number(Some(median)),
        number(Some(max)),
        metric.values.len().to_string(),
        sum(|value| value.repetitions).to_string(),
        sum(|value| value.left_out).to_string(),
        detail.map(|detail| detail.user.to_string()).unwrap_or_default(),
        detail.map(|detail| detail.kernel.to_string()).unwrap_or_default(),
        why.map(|why| why.outcome.name().to_owned()).unwrap_or_default(),
        why.map(|why| why.reason.clone()).unwrap_or_default(),
    ]
}

/// What all boots together say; nothing is no number.
struct Range {
    min: f64,
    median: f64,
    max: f64,
}

fn range(values: &[Value]) -> Range {
    let medians: Vec<f64> = values.iter().map(|value| value.median).collect();
    Range {
        min: values.iter().map(|value| value.min).fold(f64::NAN, f64::min),
        median: median(&medians).unwrap_or(f64::NAN),
        max: values.iter().map(|value| value.max).fold(f64::NAN, f64::max),
    }
}
