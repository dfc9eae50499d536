//! What steps with which kernel, of all metrics together.

use std::cmp::Ordering;
use std::io::{self, Write};

use kernel::version::{self, text::flavour};
use verdict::trend::{Series, Step, Trend};

use super::{reason, size};
use crate::columns::Columns;
use crate::comparison::name;
use crate::figures::figure;
use crate::safe::safe_line;
use crate::style::{DIM, Paint, of_verdict};
use crate::words::counted;

/// A narrow terminal goes without the functions first, then without the figures.
const COLUMNS: Columns<5> =
    Columns { head: ["KERNEL", "METRIC", "FIGURES", "STEP", "WHY"], right: &[2], spared: &[4, 2] };

/// A step of a metric.
struct Stepped<'a> {
    trend: &'a Trend,
    series: &'a Series,
    step: &'a Step,
}

/// Prints a line for each step that is certain: the kernels of a flavour in their order, and of each kernel the largest step first.
///
/// # Errors
///
/// When `out` does not take it.
pub fn steps(trends: &[Trend], width: Option<usize>, colour: bool, mut out: impl Write) -> io::Result<()> {
    let paint = Paint { colour };
    let mut all: Vec<Stepped<'_>> = trends.iter().flat_map(stepped).collect();
    all.sort_by(Stepped::compare);
    let series = trends.iter().flat_map(|trend| &trend.series);
    let kernels = series.map(|series| series.points.len()).max().unwrap_or(0);
    let (metrics, count) = (counted(trends.len(), "metric"), counted(all.len(), "step"));
    writeln!(
        out,
        "{}",
        paint.paint(DIM, &format!("{count} in {metrics} of up to {}", counted(kernels, "kernel")))
    )?;
    let mut rows: Vec<[String; 5]> = all.iter().map(Stepped::row).collect();
    COLUMNS.fit_last(&mut rows, width);
    let widths = COLUMNS.widths(&rows, width);
    if !rows.is_empty() {
        writeln!(out, "{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
    }
    for (stepped, row) in all.iter().zip(&rows) {
        let style = of_verdict(stepped.step.verdict);
        writeln!(out, "{}", paint.paint(style, &COLUMNS.line(row, &widths)))?;
    }
    out.flush()
}

fn stepped(trend: &Trend) -> impl Iterator<Item = Stepped<'_>> {
    trend.series.iter().flat_map(move |series| {
        let certain = series.steps.iter().filter(|step| step.is_certain());
        certain.map(move |step| Stepped { trend, series, step })
    })
}

impl Stepped<'_> {
    fn release(&self) -> &str {
        self.series.points.get(self.step.at).map_or("", |point| &point.name)
    }

    fn compare(&self, other: &Self) -> Ordering {
        let (a, b) = (self.release(), other.release());
        let share = |it: &Self| it.step.percent.map_or(f64::INFINITY, f64::abs);
        flavour(a)
            .cmp(&flavour(b))
            .then_with(|| version::compare(a, b))
            .then_with(|| share(other).total_cmp(&share(self)))
            .then_with(|| self.trend.metric.cmp(&other.trend.metric))
    }

    fn row(&self) -> [String; 5] {
        let Self { trend, step, .. } = self;
        let of = |value| figure(value, &trend.unit);
        [
            safe_line(self.release()),
            safe_line(&trend.metric),
            format!("{} to {}", of(step.before), of(step.after)),
            format!("{} {}", name(step.verdict), size(step)),
            reason(step),
        ]
    }
}
