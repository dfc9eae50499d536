//! Trends as tables.

use std::io::{self, Write};

use measure::Unit;
use verdict::trend::{Point, Series, Step, Trend};

use super::{reason, size};
use crate::columns::Columns;
use crate::comparison::name;
use crate::figures::{figure, unit};
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint, of_verdict};
use crate::words::counted;

/// A narrow terminal goes without the functions first.
const COLUMNS: Columns<4> = Columns { head: ["KERNEL", "FIGURE", "STEP", "WHY"], right: &[1], spared: &[3] };

/// Prints a table for each series, with a line for each kernel; none is wider than `width` columns as long as names are not.
///
/// # Errors
///
/// When `out` does not take it.
pub fn text(trends: &[Trend], width: Option<usize>, colour: bool, mut out: impl Write) -> io::Result<()> {
    let paint = Paint { colour };
    for (number, trend) in trends.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let name = paint.paint(BOLD, &safe_line(&trend.metric));
        writeln!(out, "{name}: {} ({})", safe_line(&trend.about), safe_line(unit(&trend.unit)))?;
        for series in &trend.series {
            writeln!(out, "{}", paint.paint(DIM, &head(series)))?;
            table(series, &trend.unit, width, paint, &mut out)?;
        }
    }
    out.flush()
}

/// What a series is: `cloud, counted, QEMU with TCG, 1 CPU, 1024 MiB: 2 steps in 17 kernels`.
fn head(series: &Series) -> String {
    let way = if series.of.is_exact { "counted" } else { "sampled" };
    let certain = series.steps.iter().filter(|step| step.is_certain()).count();
    let steps = match certain {
        0 => "no step".to_owned(),
        count => counted(count, "step"),
    };
    let kernels = counted(series.points.len(), "kernel");
    let undecided = match series.steps.len() - certain {
        0 => String::new(),
        count => format!(", {count} undecided"),
    };
    let parts = [&series.of.flavour, way, &series.of.machine];
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).map(safe_line).collect();
    format!("{}: {steps} in {kernels}{undecided}", known.join(", "))
}

fn table(
    series: &Series,
    unit: &Unit,
    width: Option<usize>,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<()> {
    let step_at = |at: usize| series.steps.iter().find(|step| step.at == at);
    let mut rows: Vec<[String; 4]> =
        series.points.iter().enumerate().map(|(at, point)| row(point, step_at(at), unit)).collect();
    COLUMNS.fit_last(&mut rows, width);
    let widths = COLUMNS.widths(&rows, width);
    writeln!(out, "{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
    for (at, row) in rows.iter().enumerate() {
        let line = COLUMNS.line(row, &widths);
        match step_at(at) {
            Some(step) => writeln!(out, "{}", paint.paint(of_verdict(step.verdict), &line))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

fn row(point: &Point, step: Option<&Step>, unit: &Unit) -> [String; 4] {
    [
        safe_line(&point.name),
        figure(point.median, unit),
        step.map_or_else(String::new, |step| format!("{} {}", name(step.verdict), size(step))),
        step.map_or_else(String::new, reason),
    ]
}
