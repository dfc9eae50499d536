use std::time::Duration;

use measure::{Boot, Detail, Function, Value};
use proptest::prelude::*;

use super::*;
use crate::statistics::Random;

pub(super) fn measured(release: &str, kind: Kind, boots: &[f64]) -> Measurement {
    let value = |(boot, &median): (usize, &f64)| Value {
        boot: u32::try_from(boot).expect("few"),
        min: median,
        median,
        max: median,
        repetitions: 8,
        left_out: 0,
    };
    let boot = |seed| Boot { seed, took: Duration::ZERO, conditions: None, run: None };
    let unit = if kind == Kind::Timed { Unit::Nanoseconds } else { Unit::Instructions };
    Measurement {
        subject: Subject { release: release.to_owned(), identity: release.to_owned(), ..Subject::default() },
        kind,
        procedure: "p".to_owned(),
        boots: (0..boots.len() as u64).map(boot).collect(),
        metrics: vec![Metric {
            name: "poll/wait".to_owned(),
            about: "wait".to_owned(),
            unit,
            values: boots.iter().enumerate().map(value).collect(),
            samples: Vec::new(),
            not_measured: None,
            detail: None,
        }],
        code: BTreeMap::new(),
        notes: Vec::new(),
    }
}

fn of(measured: &[Measurement]) -> Trend {
    trends(&["poll/wait"], measured, &Commits::default()).pop().expect("all have it")
}

fn steps(series: &Series) -> Vec<(usize, Verdict, f64, f64)> {
    series.steps.iter().map(|step| (step.at, step.verdict, step.before, step.after)).collect()
}

#[test]
fn counted_figures_step_from_one_kernel_to_the_next() {
    let exact = |release: &str, cost: f64| measured(release, Kind::Exact, &[cost; 3]);
    let found = of(&[
        exact("6.1.0-50-amd64", 1100.0),
        exact("6.1.0-9-amd64", 1000.0),
        exact("6.1.0-47-amd64", 1000.0),
        exact("6.1.0-52-amd64", 1100.0),
        exact("6.1.0-52-cloud-amd64", 900.0),
        exact("6.1.0-56-amd64", 1000.0),
    ]);
    let [amd64, cloud] = &found.series[..] else { panic!("{found:#?}") };
    assert_eq!(
        steps(amd64),
        [(2, Verdict::Worse, 1000.0, 1100.0), (4, Verdict::Better, 1100.0, 1000.0)],
        "in the order of their versions"
    );
    assert_eq!((amd64.steps[0].percent, amd64.steps[0].ground), (Some(10.0), Some(Ground::Size)));
    assert_eq!((cloud.of.flavour.as_str(), cloud.points.len(), cloud.steps.len()), ("cloud", 1, 0));
}

#[test]
fn a_difference_that_may_be_chance_is_undecided() {
    let exact = |release: &str, cost: f64| measured(release, Kind::Exact, &[cost; 3]);
    let found = of(&[exact("6.1.1", 1000.0), exact("6.1.2", 1005.0), exact("6.1.3", 1005.0)]);
    assert_eq!(steps(&found.series[0]), [(1, Verdict::Undecided, 1000.0, 1005.0)]);
    assert!(!found.series[0].steps[0].is_certain());
}

#[test]
fn a_step_names_its_functions() {
    let with = |release: &str, cost: u64| {
        let mut one = measured(release, Kind::Exact, &[1000.0 + cost as f64; 3]);
        let functions = vec![Function { name: "vfs_poll".to_owned(), instructions: cost, calls: 1 }];
        one.metrics[0].detail = Some(Detail { kernel: cost, functions, ..Detail::default() });
        one
    };
    let found = of(&[with("6.1.1", 100), with("6.1.2", 300)]);
    let why = found.series[0].steps[0].why.as_ref().expect("both were watched");
    assert_eq!((why.functions[0].function.as_str(), why.explained), ("vfs_poll", 200));
}

#[test]
fn the_latest_figures_of_a_kernel_count() {
    let found = of(&[
        measured("6.1.1", Kind::Exact, &[1000.0; 3]),
        measured("6.1.1", Kind::Exact, &[1200.0; 3]),
        measured("6.1.2", Kind::Exact, &[1200.0; 3]),
    ]);
    assert_eq!((found.series[0].points.len(), steps(&found.series[0])), (2, Vec::new()));
}

#[test]
fn figures_that_came_about_differently_are_not_compared() {
    let other = Measurement { procedure: "q".to_owned(), ..measured("6.1.2", Kind::Exact, &[2000.0; 3]) };
    let timed = measured("6.1.3", Kind::Timed, &[2000.0; 3]);
    let found = of(&[measured("6.1.1", Kind::Exact, &[1000.0; 3]), other, timed.clone()]);
    assert_eq!(found.series.iter().map(|series| series.points.len()).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(trends(&["poll/none"], &[timed], &Commits::default()), []);
}

/// Kernels that were each measured in so many sessions, with normal noise of 1 % and these levels.
fn sampled(levels: &[f64], sessions: usize, random: &mut Random) -> Vec<Measurement> {
    let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
    let kernels = levels
        .iter()
        .enumerate()
        .flat_map(|(number, level)| (0..sessions).map(move |_| (format!("6.1.{number}"), *level)));
    kernels
        .map(|(release, level)| measured(&release, Kind::Timed, &[level * (1.0 + 0.01 * normal())]))
        .collect()
}

#[test]
fn sampled_figures_step_where_chance_hardly_does() {
    let levels = [vec![100.0; 8], vec![105.0; 8]].concat();
    let found = of(&sampled(&levels, 1, &mut Random::new(3)));
    let [step] = &found.series[0].steps[..] else { panic!("{:#?}", found.series[0].steps) };
    assert_eq!((step.at, step.verdict), (8, Verdict::Worse));
    let (low, high) = step.interval.expect("there are enough");
    assert!(low < 5.0 && 5.0 < high && low > 2.0 && high < 8.0, "{low} {high}");
    assert!(step.p.is_some_and(|p| p < 0.01));
}

#[test]
fn a_change_of_the_spread_alone_is_neither_worse_nor_better() {
    let values = (0..24).map(|number: u32| match number {
        0..12 => 100.0 + f64::from(number % 3) * 0.01,
        _ => {
            if number.is_multiple_of(2) {
                90.0
            } else {
                110.0
            }
        }
    });
    let all: Vec<Measurement> = values
        .enumerate()
        .map(|(number, value)| measured(&format!("6.1.{number}"), Kind::Timed, &[value]))
        .collect();
    let found = of(&all);
    assert!(found.series[0].steps.iter().all(|step| !step.is_certain()), "{:#?}", found.series[0].steps);
}

/// How many of 200 histories show a step where there is none: at most `ERROR` of them, but for the luck of this sample.
#[test]
fn false_alarms_are_as_rare_as_they_are_called() {
    for (kernels, sessions) in [(12, 1), (6, 3)] {
        let mut random = Random::new(11);
        let alarms = (0..200).filter(|_| {
            let history = of(&sampled(&vec![100.0; kernels], sessions, &mut random));
            !history.series[0].steps.is_empty()
        });
        let alarms = alarms.count();
        // The 99.9 % quantile of a binomial distribution with 200 and 0.05.
        assert!(alarms <= 21, "{alarms} of 200 with {kernels} kernels");
    }
}

#[test]
fn steps_are_found_where_they_are() {
    let mut random = Random::new(5);
    let levels = [vec![100.0; 6], vec![103.0; 6]].concat();
    let right = (0..50).filter(|_| {
        let history = of(&sampled(&levels, 3, &mut random));
        history.series[0].steps.iter().any(|step| step.at == 6)
    });
    let right = right.count();
    assert!(right >= 45, "{right} of 50");
}

proptest! {
    #[test]
    fn any_measurements_have_a_trend(all in prop::collection::vec(("[0-9.]{0,5}(-rt)?", any::<bool>(), prop::collection::vec(prop::num::f64::ANY, 0..4)), 0..8)) {
        let kind = |is_timed| if is_timed { Kind::Timed } else { Kind::Exact };
        let all: Vec<Measurement> =
            all.iter().map(|(release, is_timed, boots)| measured(release, kind(*is_timed), boots)).collect();
        for found in trends(&["poll/wait"], &all, &Commits::default()) {
            for series in &found.series {
                prop_assert!(series.steps.iter().all(|step| step.at > 0 && step.at < series.points.len()));
            }
        }
    }
}
