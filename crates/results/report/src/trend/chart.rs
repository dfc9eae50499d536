//! A metric over the history of kernels, as a chart.

use std::collections::BTreeMap;
use std::io::{self, Write};

use kernel::version;
use maud::{Markup, PreEscaped, html};
use verdict::trend::{Point, Series, Trend};

use crate::comparison::name;
use crate::figures::figure;
use crate::html::{short, text};
use crate::safe::visible;
use crate::scale::{Scale, span};

/// Pixels from one kernel to the next.
const STRIDE: usize = 34;

/// Least width of a chart in pixels, and what stands left and right of the kernels.
const WIDTH_MIN: usize = 480;
const LEFT: usize = 90;
const RIGHT: usize = 70;

/// Pixels from top to bottom: the name and the legend, the kernels, their releases.
const TOP: usize = 30;
const HEIGHT: usize = 220;
const BOTTOM: usize = 90;

/// Colours of the series, which are told apart also without colours: their order is that of the legend, and those of T. Okabe and
/// K. Ito are distinct to the colour-blind.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"];

/// What a chart looks like in a file of its own.
const STYLE: &str = "text { font: 11px system-ui, sans-serif; fill: #666; } .name { font-size: 13px; font-weight: 600; } \
                     .grid { stroke: #ccc; stroke-width: 1; } .step { stroke-dasharray: 4 3; stroke-width: 1.5; }";

/// Writes the charts of some metrics, one below the other.
///
/// # Errors
///
/// When `out` does not take it.
pub fn svg(trends: &[Trend], mut out: impl Write) -> io::Result<()> {
    let width = trends.iter().map(|trend| Layout::of(trend).width).max().unwrap_or(WIDTH_MIN);
    let height = TOP + HEIGHT + BOTTOM;
    let whole = height * trends.len();
    let image = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(whole) viewBox=(format!("0 0 {width} {whole}")) {
            style { (PreEscaped(STYLE)) }
            @for (number, trend) in trends.iter().enumerate() {
                g transform=(format!("translate(0 {})", number * height)) {
                    text.name x="4" y="14" { (text(&trend.metric)) }
                    (content(trend))
                }
            }
        }
        "\n"
    };
    let image: String = image.into_string().chars().map(|c| if c == '\n' { c } else { visible(c) }).collect();
    out.write_all(image.as_bytes())?;
    out.flush()
}

/// The chart of a metric in a page.
pub(super) fn chart(trend: &Trend) -> Markup {
    let Layout { width, .. } = Layout::of(trend);
    let height = TOP + HEIGHT + BOTTOM;
    html! {
        svg role="img" aria-label=(short(&trend.metric)) width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
            style { (PreEscaped(STYLE)) }
            (content(trend))
        }
    }
}

/// Where everything stands.
struct Layout {
    /// The kernels of all series by what is common to their flavours, in the order of releases.
    columns: Vec<Column>,
    scale: Scale,
    width: usize,
}

/// The release of a kernel without its flavour, and which of the builds of that release it is in its series.
type Column = (String, usize);

impl Layout {
    fn of(trend: &Trend) -> Self {
        let mut columns: Vec<Column> = trend.series.iter().flat_map(columns).collect();
        columns.sort_by(|(a, first), (b, second)| {
            version::compare(a, b).then_with(|| a.cmp(b)).then(first.cmp(second))
        });
        columns.dedup();
        let points = trend.series.iter().flat_map(|series| &series.points);
        let (low, high) = span(points.flat_map(|point| [point.min, point.max]));
        let scale = Scale::between(low, high, 0.002 * high.abs());
        let width = (LEFT + STRIDE * columns.len() + RIGHT).max(WIDTH_MIN);
        Self { columns, scale, width }
    }

    /// Where the points of a series are from the left.
    fn places(&self, series: &Series) -> Vec<usize> {
        let place = |column: Column| {
            let number = self.columns.iter().position(|other| *other == column).unwrap_or(0);
            LEFT + STRIDE * number + STRIDE / 2
        };
        columns(series).into_iter().map(place).collect()
    }

    fn y(&self, value: f64) -> f64 {
        TOP as f64 + HEIGHT as f64 * (1.0 - self.scale.at(value).0 / 100.0)
    }
}

/// The columns of the points of a series.
fn columns(series: &Series) -> Vec<Column> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let column = |point: &Point| {
        let name = plain(&point.name, &series.of.flavour);
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        (name, *count)
    };
    series.points.iter().map(column).collect()
}

/// A release without its flavour.
fn plain(release: &str, flavour: &str) -> String {
    let release = release.strip_suffix("-amd64").unwrap_or(release);
    release.strip_suffix(&format!("-{flavour}")).unwrap_or(release).to_owned()
}

fn content(trend: &Trend) -> Markup {
    let layout = Layout::of(trend);
    html! {
        (legend(trend))
        (grid(trend, &layout))
        @for (series, colour) in trend.series.iter().zip(COLOURS.iter().cycle()) {
            (one_series(trend, series, colour, &layout))
        }
    }
}

/// The names of the series, where there are several.
fn legend(trend: &Trend) -> Markup {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    trend.series.iter().for_each(|series| *names.entry(&series.of.flavour).or_default() += 1);
    let label = |series: &Series| {
        let of = &series.of;
        // A flavour that was measured in several ways.
        let way = if names[of.flavour.as_str()] > 1 { format!(", {}", of.machine) } else { String::new() };
        text(format!("{}{way}", of.flavour))
    };
    html! {
        @if trend.series.len() > 1 {
            text x=(LEFT) y=(TOP - 4) {
                @for (series, colour) in trend.series.iter().zip(COLOURS.iter().cycle()) {
                    tspan fill=(colour) { "● " (label(series)) "   " }
                }
            }
        }
    }
}

/// The figures on the left, the releases below.
fn grid(trend: &Trend, layout: &Layout) -> Markup {
    let right = layout.width - RIGHT;
    html! {
        @for (value, label) in layout.scale.ticks(&trend.unit) {
            @let y = layout.y(value);
            line.grid x1=(LEFT) x2=(right) y1=(y) y2=(y) {}
            text x=(LEFT - 6) y=(y + 4.0) text-anchor="end" { (label) }
        }
        @for (number, column) in layout.columns.iter().enumerate() {
            @let x = LEFT + STRIDE * number + STRIDE / 2;
            @let y = TOP + HEIGHT + 12;
            text x=(x) y=(y) text-anchor="end" transform=(format!("rotate(-55 {x} {y})")) { (short(&column.0)) }
        }
    }
}

fn one_series(trend: &Trend, series: &Series, colour: &str, layout: &Layout) -> Markup {
    let places = layout.places(series);
    let dots = || series.points.iter().zip(&places).map(|(point, &x)| (point, x, layout.y(point.median)));
    let line: Vec<String> = dots().map(|(_, x, y)| format!("{x},{y:.1}")).collect();
    html! {
        polyline points=(line.join(" ")) fill="none" stroke=(colour) stroke-opacity="0.5" {}
        @for (point, x, y) in dots() {
            line x1=(x) x2=(x) y1=(layout.y(point.min)) y2=(layout.y(point.max)) stroke=(colour) {}
            circle cx=(x) cy=(y) r="3.5" fill=(colour) {
                title { (text(&point.name)) ": " (figure(point.median, &trend.unit)) }
            }
        }
        @for step in series.steps.iter().filter(|step| step.is_certain()) {
            @let (x, y) = (places[step.at], layout.y(series.points[step.at].median));
            line.step x1=(x - STRIDE / 2) x2=(x - STRIDE / 2) y1=(TOP) y2=(TOP + HEIGHT) stroke=(colour) {}
            text x=(x - STRIDE / 2 + 3) y=(if y > (TOP + HEIGHT / 2) as f64 { TOP + 10 } else { TOP + HEIGHT - 4 }) {
                (name(step.verdict)) " " (super::size(step))
            }
        }
    }
}
