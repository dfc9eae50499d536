//! Trends as one file for a browser.

use std::io::{self, Write};

use maud::{Markup, html};
use verdict::trend::{Series, Step, Trend};

use super::chart::chart;
use super::{reason, size};
use crate::comparison::name;
use crate::figures::{figure, unit};
use crate::html::{command, page, section, short, text};

/// Says what the charts show.
const LEGEND: &str = "Each dot is a kernel, in the order of releases. Bars reach from the smallest to the largest boot of counted \
                      figures, or session of sampled ones. A dashed line is a step.";

/// Writes the page. `typed` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(trends: &[Trend], typed: &str, mut out: impl Write) -> io::Result<()> {
    let names: Vec<String> = trends.iter().take(3).map(|trend| short(&trend.metric)).collect();
    let more = if trends.len() > names.len() { ", ..." } else { "" };
    let title = format!("Trend of {}{more}", names.join(", "));
    let body = html! {
        header { h1 { (text(&title)) } (command(typed)) p.legend { (LEGEND) } }
        main { @for trend in trends { (one(trend)) } }
    };
    out.write_all(page(&title, &body).as_bytes())?;
    out.flush()
}

fn one(trend: &Trend) -> Markup {
    let content = html! {
        p { (text(&trend.about)) " (" (text(unit(&trend.unit))) ")" }
        div.wide { (chart(trend)) }
        @for series in trend.series.iter().filter(|series| !series.steps.is_empty()) { (steps(trend, series)) }
    };
    section(&short(&trend.metric), &content)
}

fn steps(trend: &Trend, series: &Series) -> Markup {
    html! {
        div.wide {
            table.metrics {
                thead { tr { th { (text(&series.of.flavour)) " steps with" } th { "from" } th { "to" } th { "by" } th { "why" } } }
                tbody { @for step in &series.steps { (line(trend, series, step)) } }
            }
        }
    }
}

fn line(trend: &Trend, series: &Series, step: &Step) -> Markup {
    html! {
        tr class=(name(step.verdict)) {
            th { (text(&series.points[step.at].name)) }
            td.figure { (figure(step.before, &trend.unit)) }
            td.figure { (figure(step.after, &trend.unit)) }
            td.verdict { (name(step.verdict)) " " (size(step)) }
            td { (text(reason(step))) }
        }
    }
}
