//! What was seen again and again, in its order, as a chart.

use std::time::Duration;

use jiff::Timestamp;
use judge::Outcome;
use maud::{Markup, html};
use measure::{OwnUnit, Unit};

use crate::html::{Percent, Place, line, text};
use crate::scale::{Scale, span};
use crate::words::seconds;

/// Pixels from top to bottom, and between a mark of the axis and its text.
const HEIGHT: u32 = 140;
const TEXT: u32 = 12;

/// A Run in its place among others.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// When its session began.
    pub started: Timestamp,
    /// On which kernel.
    pub kernel: &'a str,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub duration: Duration,
}

/// A figure that an experiment recorded.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// When its session began.
    pub started: Timestamp,
    /// On which kernel.
    pub kernel: &'a str,
    /// The figure, in the unit of its metric.
    pub value: f64,
}

/// What stands in a chart.
struct Dot {
    value: f64,
    /// A letter instead of a dot.
    letter: Option<char>,
    about: String,
}

/// A chart of Runs from the oldest to the newest: how long each took, with the first letter of its Outcome if it is not well.
#[must_use]
pub fn chart(runs: &[Moment<'_>]) -> Markup {
    let bad = runs.iter().filter(|run| !run.outcome.is_well()).count();
    let dot = |run: &Moment<'_>| {
        let Moment { started, kernel, outcome, duration } = run;
        let letter = outcome.name().chars().next().filter(|_| !outcome.is_well());
        let about =
            format!("{} on {kernel}: {} after {}", minute(*started), outcome.name(), seconds(*duration));
        Dot { value: duration.as_nanos() as f64, letter, about }
    };
    let label = format!("how long {} Runs took, of which {bad} are not well", runs.len());
    plot(&label, &Unit::Nanoseconds, &runs.iter().map(dot).collect::<Vec<_>>())
}

/// A chart of a metric of an experiment from the oldest record to the newest.
#[must_use]
pub fn records(metric: &str, records: &[Record<'_>]) -> Markup {
    let dot = |record: &Record<'_>| {
        let Record { started, kernel, value } = record;
        Dot { value: *value, letter: None, about: format!("{} on {kernel}: {value}", minute(*started)) }
    };
    let dots: Vec<Dot> = records.iter().filter(|record| record.value.is_finite()).map(dot).collect();
    // Charts of one metric need no unit beside their marks.
    let unit = Unit::Own(OwnUnit { name: String::new(), more_is_better: false, is_timed: false });
    plot(&format!("{} records of {}", dots.len(), text(metric)), &unit, &dots)
}

fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn plot(label: &str, unit: &Unit, dots: &[Dot]) -> Markup {
    if dots.is_empty() {
        return html! {};
    }
    let (low, high) = span(dots.iter().map(|dot| dot.value));
    let width = 0.2 * high.abs().max(low.abs());
    let scale = Scale::between(low, high, if width > 0.0 { width } else { 1.0 });
    let y = |value: f64| HEIGHT - (f64::from(HEIGHT) * scale.at(value).0 / 100.0) as u32;
    let x = |at: usize| Percent(100.0 * (at as f64 + 0.5) / dots.len() as f64);
    html! {
        svg.chart role="img" aria-label=(label) width="100%" height=(HEIGHT + TEXT) {
            @for (value, tick) in scale.ticks(unit) {
                (line("guide", Place { x: Percent(0.0), y: y(value) }, Place { x: Percent(100.0), y: y(value) }))
                text x="0" y=(y(value).saturating_sub(2)) { (tick) }
            }
            @for (at, Dot { value, letter, about }) in dots.iter().enumerate() {
                @match letter {
                    None => circle cx=(x(at)) cy=(y(*value)) r="3" { title { (text(about)) } },
                    Some(letter) => text.bad x=(x(at)) y=(y(*value) + 4) text-anchor="middle" {
                        (letter.to_ascii_uppercase()) title { (text(about)) }
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: Outcome, millis: u64) -> Moment<'static> {
        let (started, duration) = (Timestamp::UNIX_EPOCH, Duration::from_millis(millis));
        Moment { started, kernel: "<6.1>", outcome, duration }
    }

    #[test]
    fn each_run_has_a_sign_in_its_order() {
        let runs = [run(Outcome::Pass, 10), run(Outcome::Crash, 900), run(Outcome::Skip, 0)];
        let page = chart(&runs).into_string();
        assert_eq!((page.matches("<circle").count(), page.matches("class=\"bad\"").count()), (2, 1));
        assert!(page.contains(">C<title>1970-01-01 00:00 on &lt;6.1&gt;: crash after"), "{page}");
        assert!(page.contains("how long 3 Runs took, of which 1 are not well"), "{page}");
        assert_eq!(chart(&[]).into_string(), "");
    }

    #[test]
    fn runs_that_took_no_time_have_a_chart() {
        let page = chart(&[run(Outcome::Pass, 0), run(Outcome::Pass, 0)]).into_string();
        assert!(page.contains("<circle") && !page.contains("NaN"), "{page}");
    }

    #[test]
    fn figures_may_be_anything() {
        let record = |value| Record { started: Timestamp::UNIX_EPOCH, kernel: "6.1", value };
        for values in [&[0.0, 0.0][..], &[-3.5, 1e300], &[f64::NAN, f64::INFINITY, 2.0], &[1e-9]] {
            let all: Vec<Record<'_>> = values.iter().map(|value| record(*value)).collect();
            let page = records("<loss>", &all).into_string();
            assert!(page.contains("records of &lt;loss&gt;") && !page.contains("NaN"), "{values:?}: {page}");
        }
    }
}
