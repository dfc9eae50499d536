//! Pages in a browser: what they promise everybody, and what nobody can make of them.
//!
//! ```text
//! cargo test --package report --test report pages -- --ignored
//! ```

use std::path::Path;

use browser::{Browser, Expected, HOSTILE, faults};
use check::SeriesCheck;
use matrix::Grid;
use serde_json::Value;
use verdict::trend::Trend;
use viewer::timeline::{Item, Kind, Lane, Place};
use viewer::{Axis, State, Statistics, Timeline};

use crate::compare::written;
use crate::{bisections, checks, comparisons, matrices, trends};

/// What is typed for each of them.
const COMMAND: &str = "kiln compare '<b>' --why";

/// Words of a hostile text that are shown as they are.
const SHOWN: &str = "window.owned=1</script>";

/// Pages by their names, each with words that it says.
fn pages() -> Vec<(&'static str, String, &'static str)> {
    let evil = HOSTILE.join(" ");
    let compared = |comparison| written(|out| report::comparison::html(comparison, COMMAND, out));
    let bisected = |bisection| written(|out| report::bisection::html(bisection, COMMAND, out));
    let underway =
        |bisection| report::bisection::underway(&bisections::going_on(bisection), true).into_file();
    let matrix = |grids: &[Grid]| written(|out| report::matrix::html(grids, COMMAND, out));
    let trend = |trends: &[Trend]| written(|out| report::trend::html(trends, COMMAND, out));
    let checked = |check: &SeriesCheck| written(|out| report::check::html(check, COMMAND, out));
    vec![
        ("comparison", compared(&comparisons::exact()), "fs/ext4-create-unlink"),
        ("comparison-timed", compared(&comparisons::timed()), "6.1.0-56"),
        ("comparison-several", compared(&comparisons::several()), "6.1.0-56"),
        ("comparison-recorded", compared(&comparisons::recorded()), "throughput, Mbit/s"),
        ("comparison-hostile", compared(&comparisons::hostile()), "<script>alert('1')</script>"),
        ("bisection", bisected(&bisections::commit()), "ovl: do not copy up twice"),
        ("bisection-metric", bisected(&bisections::metric()), "pipe: count what is written"),
        ("bisection-suspects", bisected(&bisections::suspects()), "kiln compare"),
        ("bisection-hostile", bisected(&bisections::poisoned(bisections::commit(), &evil)), SHOWN),
        ("bisection-hostile-fix", bisected(&bisections::poisoned(bisections::fixed(), &evil)), SHOWN),
        ("bisection-underway", underway(bisections::commit()), "Tested now"),
        ("bisection-underway-hostile", underway(bisections::poisoned(bisections::commit(), &evil)), SHOWN),
        ("matrix", matrix(&matrices::grids()), "fs/reflink"),
        ("matrix-hostile", matrix(&hostile_grids(&evil)), SHOWN),
        ("trend", trend(&trends::counted()), "poll/wait"),
        ("trend-sampled", trend(&trends::sampled()), "poll/wait"),
        ("trend-hostile", trend(&hostile_trends(&evil)), SHOWN),
        ("check", checked(&checks::rich()), "pipe/broken"),
        ("check-hostile", checked(&hostile_check(&evil)), SHOWN),
        ("timeline-hostile", timeline(&evil), "events in"),
    ]
}

fn hostile_grids(evil: &str) -> Vec<Grid> {
    let mut grids = matrices::grids();
    for grid in &mut grids {
        (grid.suite, grid.setting) = (evil.to_owned(), evil.to_owned());
        for column in &mut grid.columns {
            column.kernel = format!("{evil}{}", column.kernel);
            column.release = format!("{evil}{}", column.release);
            column.parameters = evil.to_owned();
        }
        for row in &mut grid.rows {
            row.case = format!("{evil}{}", row.case);
            row.cells.iter_mut().flatten().for_each(|cell| cell.reason = evil.to_owned());
        }
    }
    grids
}

fn hostile_trends(evil: &str) -> Vec<Trend> {
    let mut all = trends::counted();
    for trend in &mut all {
        (trend.metric, trend.about) = (evil.to_owned(), evil.to_owned());
        for series in &mut trend.series {
            series.of.flavour = evil.to_owned();
            series.of.machine = evil.to_owned();
            series.points.iter_mut().for_each(|point| point.name = evil.to_owned());
        }
    }
    all
}

/// A check whose every text that comes from outside is another.
fn hostile_check(evil: &str) -> SeriesCheck {
    const FREE: [&str; 19] = [
        "subject",
        "author",
        "cause",
        "new_warnings",
        "case",
        "reason",
        "evidence",
        "operation",
        "functions",
        "text",
        "code",
        "file",
        "rule",
        "notes",
        "left_out",
        "unchecked",
        "reproduce",
        "configurations",
        "why",
    ];
    fn poison(value: &mut Value, is_free: bool, evil: &str) {
        match value {
            Value::String(text) if is_free => *text = evil.to_owned(),
            Value::Array(all) => all.iter_mut().for_each(|one| poison(one, is_free, evil)),
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(key, one)| poison(one, FREE.contains(&key.as_str()), evil));
            }
            _ => {}
        }
    }
    let mut document = serde_json::to_value(checks::rich()).unwrap();
    poison(&mut document, false, evil);
    serde_json::from_value(document).unwrap()
}

fn timeline(evil: &str) -> String {
    let mut timeline = Timeline::default();
    timeline.labels.extend([evil.to_owned(), evil.to_owned()]);
    let item = |begin, kind| Item { begin, end: begin + 400, kind, label: 1 };
    for (place, kind) in [(Place::Cpu(0), Kind::Idle), (Place::Thread(7), Kind::State(State::Running))] {
        let states = (0..20).map(|number| item(number * 500, kind)).collect();
        let lane =
            Lane { comm: evil.to_owned(), states, calls: Vec::new(), events: vec![(100, 0), (900, 1)] };
        timeline.lanes.insert(place, lane);
    }
    let mut statistics = Statistics::default();
    (statistics.events, statistics.span) = (4, 10_000);
    let thread = viewer::statistics::Thread { comm: evil.to_owned(), events: 4, running: 8_000 };
    statistics.threads.insert(7, thread);
    statistics.cpus.insert(0, viewer::statistics::Cpu { events: 4, busy: 8_000, idle: 2_000 });
    let axis = Axis { end: 10_000, ..Axis::default() };
    let drawn = report::trace::Drawn { name: evil.to_owned(), lost: 3, timeline, statistics };
    let page = report::trace::Page { typed: COMMAND, axis, traces: vec![drawn] };
    written(|out| report::trace::html(&page, out))
}

#[test]
#[ignore = "needs Chromium, and takes minutes"]
fn every_page_is_for_everybody_and_safe_to_open() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser/reports");
    std::fs::create_dir_all(&folder).unwrap();
    let browser = Browser::start().unwrap_or_else(|error| panic!("{error}"));
    let mut found = Vec::new();
    for (name, page, words) in pages() {
        let path = folder.join(format!("{name}.html"));
        std::fs::write(&path, page).unwrap();
        let address = format!("file://{}", path.display());
        let tab = browser.tab().unwrap();
        let judged = faults(&tab, Expected { name, address: &address, says: &[words] }, &folder);
        found.extend(judged.unwrap_or_else(|error| vec![format!("{name}: {error}")]));
    }
    assert!(found.is_empty(), "{}\npictures are in {}", found.join("\n"), folder.display());
}
