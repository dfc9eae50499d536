use std::collections::BTreeMap;

use measure::{Detail, Function, Kind, Measurement, Metric, Subject, Unit, Value};
use verdict::trend::{Commits, Trend, trends};

fn measured(release: &str, kind: Kind, cost: f64) -> Measurement {
    let value = Value { boot: 0, min: cost, median: cost, max: cost, repetitions: 8, left_out: 0 };
    let functions =
        vec![Function { name: "ep_poll\u{1b}[31m".to_owned(), instructions: cost as u64, calls: 1 }];
    Measurement {
        subject: Subject {
            release: release.to_owned(),
            identity: release.to_owned(),
            machine: "QEMU with TCG, 1 CPU, 1024 MiB".to_owned(),
            ..Subject::default()
        },
        kind,
        procedure: String::new(),
        boots: Vec::new(),
        metrics: vec![Metric {
            name: "poll/wait".to_owned(),
            about: "wait for <events> \u{202e}".to_owned(),
            unit: if kind == Kind::Timed { Unit::Nanoseconds } else { Unit::Instructions },
            values: vec![value; 3],
            samples: Vec::new(),
            not_measured: None,
            detail: Some(Detail { kernel: cost as u64, functions, ..Detail::default() }),
        }],
        code: BTreeMap::new(),
        notes: Vec::new(),
    }
}

pub(crate) fn counted() -> Vec<Trend> {
    let figures = [("47", 5000.0), ("49", 5000.0), ("50", 5500.0), ("52", 5501.0), ("56", 4990.0)];
    let amd64 = figures.map(|(number, cost)| measured(&format!("6.1.0-{number}-amd64"), Kind::Exact, cost));
    let cloud =
        figures.map(|(number, _)| measured(&format!("6.1.0-{number}-cloud-amd64"), Kind::Exact, 4800.0));
    trends(&["poll/wait"], &[amd64, cloud].concat(), &Commits::default())
}

pub(crate) fn sampled() -> Vec<Trend> {
    let levels = (0..16).map(|number| if number < 8 { 1000.0 } else { 1100.0 } + f64::from(number % 3));
    let all = levels.enumerate().map(|(number, cost)| measured(&format!("6.1.{number}"), Kind::Timed, cost));
    trends(&["poll/wait"], &all.collect::<Vec<_>>(), &Commits::default())
}

fn text(trends: &[Trend], width: Option<usize>) -> String {
    let mut out = Vec::new();
    report::trend::text(trends, width, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn page(trends: &[Trend]) -> String {
    let mut out = Vec::new();
    report::trend::html(trends, "kiln trend 'poll/*'", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn image(trends: &[Trend]) -> String {
    let mut out = Vec::new();
    report::trend::svg(trends, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_kernel_has_a_line_and_each_step_its_size() {
    insta::assert_snapshot!(text(&counted(), Some(100)));
    insta::assert_snapshot!(text(&sampled(), Some(100)));
}

#[test]
fn a_narrow_terminal_goes_without_the_functions() {
    assert!(!text(&counted(), Some(50)).contains("ep_poll"));
    assert!(text(&counted(), None).contains("ep_poll"));
}

fn steps(trends: &[Trend], width: Option<usize>) -> String {
    let mut out = Vec::new();
    report::trend::steps(trends, width, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn steps_of_all_metrics_stand_with_their_kernels() {
    let wait = counted().remove(0);
    let mut small = wait.clone();
    small.metric = "pipe/small".to_owned();
    for step in small.series.iter_mut().flat_map(|series| &mut series.steps) {
        step.percent = step.percent.map(|percent| percent / 2.0);
    }
    insta::assert_snapshot!(steps(&[small, wait], Some(100)));
    assert!(!steps(&counted(), Some(70)).contains("ep_poll"));
    assert_eq!(steps(&[], None), "0 steps in 0 metrics of up to 0 kernels\n");
}

#[test]
fn charts_have_each_kernel_and_certain_steps_only() {
    let image = image(&counted());
    assert!(image.starts_with("<svg xmlns=") && image.trim_end().ends_with("</svg>"));
    assert_eq!((image.matches("<circle").count(), image.matches("class=\"step\"").count()), (10, 2));
    for label in ["6.1.0-47<", "● cloud", "worse +10.00 %", "better -9.29 %", "<title>6.1.0-50-amd64: 5,500"]
    {
        assert!(image.contains(label), "{label}\n{image}");
    }
    let page = page(&counted());
    assert!(page.contains("&lt;events&gt;") && page.matches("<circle").count() == 10);
    assert!(page.contains("amd64 steps with") && page.contains("6.1.0-50-amd64"));
}

#[test]
fn nothing_hostile_leaves_a_report() {
    let mut json = Vec::new();
    report::trend::json(&counted(), &mut json).unwrap();
    let json = String::from_utf8(json).unwrap();
    for text in [text(&counted(), None), steps(&counted(), None), page(&counted()), image(&counted()), json] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }
    assert!(image(&[]).starts_with("<svg"));
}
