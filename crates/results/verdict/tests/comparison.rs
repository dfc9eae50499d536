//! From measurements to comparisons.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use judge::Outcome;
use measure::{Boot, Code, Detail, Function, Kind, Measurement, Metric, NotMeasured, Subject, Unit, Value};
use verdict::{
    Against, Design, Ground, Noise, Row, Sequential, Steadiness, Totals, Verdict, compare_exact,
    compare_timed,
};

/// A metric whose repetitions cost the same.
fn metric(name: &str, medians: &[f64]) -> Metric {
    repeated(name, medians, (0.0, 0.0))
}

/// A metric whose repetitions cost up to so much less and more than their median.
fn repeated(name: &str, medians: &[f64], (less, more): (f64, f64)) -> Metric {
    let value = |(boot, &median): (usize, &f64)| Value {
        boot: u32::try_from(boot).unwrap(),
        min: median - less,
        median,
        max: median + more,
        repetitions: 400,
        left_out: 2,
    };
    Metric {
        name: name.into(),
        about: format!("what {name} is"),
        unit: Unit::Instructions,
        values: medians.iter().enumerate().map(value).collect(),
        samples: Vec::new(),
        not_measured: None,
        detail: None,
    }
}

fn measurement(label: &str, metrics: Vec<Metric>) -> Measurement {
    let text = || label.to_string();
    let subject = Subject {
        label: text(),
        locator: text(),
        kernel: text(),
        provenance: text(),
        release: text(),
        identity: text(),
        parameters: text(),
        machine: text(),
        size: None,
        warnings: None,
    };
    let boots = (0..40)
        .map(|seed| Boot { seed, took: Duration::from_secs(2), conditions: None, run: None })
        .collect();
    let (procedure, code, notes) = (String::new(), BTreeMap::new(), Vec::new());
    Measurement { subject, kind: Kind::Exact, procedure, boots, metrics, code, notes }
}

fn row<'a>(against: &'a Against, name: &str) -> &'a Row {
    against.rows.iter().find(|row| row.metric == name).unwrap()
}

/// Values 0.1 % apart around `centre`.
fn around(centre: f64, count: u32) -> Vec<f64> {
    (0..count).map(|index| centre * (1.0 + 0.001 * (f64::from(index) - f64::from(count / 2)))).collect()
}

/// What comes of one metric in these boots, without functions.
fn counted(base: &[f64], new: &[f64]) -> Row {
    let (base, new) = (metric("a", base), metric("a", new));
    let against = compare_exact(&measurement("base", vec![base]), &measurement("new", vec![new]));
    against.rows[0].clone()
}

/// Boots of the base and of the other, and what they come to.
type Case<'a> = (&'a [f64], &'a [f64], Verdict, Option<Ground>);

#[test]
fn exact_figures_are_judged_by_their_boots() {
    let (size, boots) = (Some(Ground::Size), Some(Ground::Boots));
    let cases: &[Case<'_>] = &[
        (&[100.0, 100.0], &[100.0, 100.0], Verdict::Same, None),
        (&[100.0, 100.0], &[101.0, 101.0], Verdict::Worse, size),
        (&[1000.0, 1000.0], &[1009.0, 1009.0], Verdict::Undecided, None),
        (&[1000.0, 1002.0], &[970.0, 971.0], Verdict::Better, size),
        (&[1000.0, 1002.0], &[1003.0, 1003.0], Verdict::Undecided, None),
        // They overlap: within the noise, and beyond.
        (&[100.0, 101.0, 102.0], &[102.0, 103.0, 104.0], Verdict::Same, None),
        (&[100.0, 100.0, 100.0, 110.0], &[110.0, 110.0, 110.0, 121.0], Verdict::Same, None),
        (&[100.0, 100.0, 102.0], &[104.0, 104.0, 101.0], Verdict::Undecided, None),
        // One of 70 ways to divide eight boots is as far apart, on either side.
        (&[1000.0, 1001.0, 1002.0, 1003.0], &[1004.0, 1005.0, 1006.0, 1007.0], Verdict::Worse, boots),
        (&[1000.0, 1001.0, 1002.0], &[1004.0, 1005.0, 1006.0], Verdict::Undecided, None),
    ];
    for (base, new, verdict, ground) in cases {
        let row = counted(base, new);
        assert_eq!((row.verdict, row.ground), (*verdict, *ground), "{row:?}");
    }
}

/// Two boots agree by chance more often than their repetitions do.
#[test]
fn repetitions_that_differ_by_more_than_the_boots_leave_it_open() {
    let judged = |range| {
        let of = |medians| repeated("a", medians, range);
        let (base, new) = (of(&[100.0, 100.0]), of(&[103.0, 103.0]));
        let against = compare_exact(&measurement("base", vec![base]), &measurement("new", vec![new]));
        against.rows[0].verdict
    };
    assert_eq!(judged((1.0, 2.0)), Verdict::Worse);
    assert_eq!(judged((1.0, 3.0)), Verdict::Undecided);
}

#[test]
fn a_comparison_that_an_earlier_version_kept_is_read() {
    let mut kept = serde_json::to_value(counted(&[100.0, 100.0], &[101.0, 101.0])).unwrap();
    for field in ["steadiness", "ground"] {
        assert!(kept.as_object_mut().unwrap().remove(field).is_some());
    }
    let row: Row = serde_json::from_value(kept).unwrap();
    assert_eq!((row.verdict, row.steadiness, row.ground), (Verdict::Worse, None, None));
    let mut kept = serde_json::to_value(executed(&[("x", 1, "0:1")])).unwrap();
    assert!(kept.as_object_mut().unwrap().remove("code").is_some());
    assert!(serde_json::from_value::<Measurement>(kept).unwrap().code.is_empty());
}

#[test]
fn a_row_says_whether_its_boots_agreed() {
    assert_eq!(counted(&[100.0, 100.0], &[101.0, 101.0]).steadiness, Some(Steadiness::Constant));
    assert_eq!(counted(&[100.0, 100.0], &[100.0, 101.0]).steadiness, Some(Steadiness::Varying));
}

/// A measurement of `a` that executes 100 instructions in user space and these of functions with this code.
fn executed(functions: &[(&str, u64, &str)]) -> Measurement {
    let function = |&(name, instructions, _): &(&str, u64, &str)| Function {
        name: name.to_string(),
        instructions,
        calls: 1,
    };
    let kernel = functions.iter().map(|&(_, instructions, _)| instructions).sum::<u64>();
    let functions_of = functions.iter().map(function).collect();
    let detail = Detail { user: 1000, kernel, functions: functions_of, ..Detail::default() };
    let cost = (1000 + kernel) as f64;
    let allocations = metric("a:allocations", &[if kernel == 60 { 1.0 } else { 2.0 }; 2]);
    let events = Metric { unit: Unit::Count, ..allocations };
    let metrics = vec![Metric { detail: Some(detail), ..metric("a", &[cost, cost]) }, events];
    let code = functions
        .iter()
        .map(|&(name, _, code)| (name.to_string(), Code::try_from(code.to_string()).unwrap()))
        .collect();
    Measurement { code, ..measurement("a", metrics) }
}

#[test]
fn a_small_step_is_certain_where_changed_code_makes_it() {
    let base = executed(&[("changed", 20, "0:55"), ("same", 40, "0:33")]);
    let judged = |new: Measurement| {
        let against = compare_exact(&base, &new);
        ["a", "a:allocations"].map(|name| (row(&against, name).verdict, row(&against, name).ground))
    };
    let by_code = [(Verdict::Worse, Some(Ground::Code)), (Verdict::Worse, Some(Ground::Operation))];
    let open = [(Verdict::Undecided, None); 2];
    assert_eq!(judged(executed(&[("changed", 21, "0:56"), ("same", 40, "0:33")])), by_code);
    // New code calls a new function.
    assert_eq!(
        judged(executed(&[("changed", 19, "0:56"), ("same", 40, "0:33"), ("new", 5, "0:1")])),
        by_code
    );
    // The same code took another way, entered another function, or did so beside code that changed nothing.
    assert_eq!(judged(executed(&[("changed", 21, "0:55"), ("same", 40, "0:33")])), open);
    assert_eq!(judged(executed(&[("changed", 20, "0:55"), ("same", 40, "0:33"), ("new", 5, "0:1")])), open);
    assert_eq!(judged(executed(&[("changed", 20, "0:56"), ("same", 43, "0:33")])), open);
    // Another function calls changed code more often.
    let mut often = executed(&[("changed", 40, "0:56"), ("same", 40, "0:33")]);
    for detail in often.metrics.iter_mut().filter_map(|metric| metric.detail.as_mut()) {
        detail.functions.iter_mut().for_each(|function| function.calls *= 2);
    }
    assert_eq!(judged(often)[0], (Verdict::Worse, Some(Ground::Size)));
    // Changed code is the smaller part of it.
    assert_eq!(judged(executed(&[("changed", 21, "0:56"), ("same", 45, "0:33")])), open);
    // Changed code costs less, and chance more.
    assert_eq!(judged(executed(&[("changed", 19, "0:56"), ("same", 43, "0:33")])), open);
}

#[test]
fn a_row_has_the_figures_of_both() {
    let detail = Detail { user: 20, kernel: 80, ..Detail::default() };
    let base = Metric { detail: Some(detail), ..repeated("a", &[100.0, 104.0, 103.0], (1.0, 5.0)) };
    let against = compare_exact(
        &measurement("base", vec![base]),
        &measurement("new", vec![metric("a", &[206.0, 206.0, 207.0])]),
    );
    let row = row(&against, "a");
    assert_eq!((row.base.min, row.base.median, row.base.max), (99.0, 103.0, 109.0));
    assert_eq!((&row.base.boots[..], row.base.apart), (&[100.0, 104.0, 103.0][..], Some((20, 80))));
    assert_eq!((row.new.median, row.new.apart), (206.0, None));
    assert_eq!((row.difference, row.percent), (103.0, Some(100.0)));
    assert_eq!((row.interval, row.p), (None, None));
    assert_eq!(against.subject.label, "new");
}

#[test]
fn the_worst_come_first_and_what_is_the_same_last() {
    let names = ["same", "better", "worse", "open", "much better", "much worse", "from nothing"];
    let base = [100.0, 100.0, 100.0, 1000.0, 100.0, 100.0, 0.0].map(|value| [value, value, value]);
    let new = [100.0, 98.0, 103.0, 1001.0, 50.0, 900.0, 7.0].map(|value| [value; 3]);
    let of = |values: [[f64; 3]; 7]| {
        names.iter().zip(values).map(|(name, values)| metric(name, &values)).collect()
    };
    let against = compare_exact(&measurement("base", of(base)), &measurement("new", of(new)));
    let order: Vec<&str> = against.rows.iter().map(|row| row.metric.as_str()).collect();
    assert_eq!(order, ["from nothing", "much worse", "worse", "open", "much better", "better", "same"]);
    assert_eq!(row(&against, "from nothing").percent, None);
    let expected = Totals { worse: 3, better: 2, same: 1, undecided: 1, missing: 0 };
    assert_eq!(against.totals(), expected);
}

#[test]
fn what_one_of_them_lacks_is_told_with_the_reason() {
    let why = NotMeasured { outcome: Outcome::Skip, reason: "CONFIG_IO_URING is not set".into() };
    let skipped = |name| Metric { not_measured: Some(why.clone()), ..metric(name, &[]) };
    // An event is missing with its operation, which is told once.
    let [a, b, event] = ["a", "b", "b:packets"].map(|name| metric(name, &[1.0]));
    let base = measurement("base", vec![a, b, event, skipped("c"), skipped("d")]);
    let new =
        measurement("new", vec![metric("a", &[1.0]), skipped("b"), skipped("c"), metric("e", &[f64::NAN])]);
    let against = compare_exact(&base, &new);
    let found: Vec<(&str, Option<&str>, Option<&str>)> = against
        .missing
        .iter()
        .map(|missing| {
            let reason =
                |why: &Option<NotMeasured>| why.as_ref().map(|why| why.reason.clone().leak() as &str);
            (missing.metric.as_str(), reason(&missing.base), reason(&missing.new))
        })
        .collect();
    let (config, absent) = ("CONFIG_IO_URING is not set", "it was not measured on this kernel");
    let expected = [
        ("b", None, Some(config)),
        ("c", Some(config), Some(config)),
        ("d", Some(config), Some(absent)),
        ("e", Some(absent), Some("no boot gave a figure that counts")),
    ];
    assert_eq!(found, expected);
    assert_eq!((against.rows.len(), against.totals().missing), (1, 4));
}

#[test]
fn timed_figures_have_an_interval_and_a_probability() {
    let base =
        measurement("base", vec![metric("slow", &around(1e5, 12)), metric("steady", &around(1e5, 12))]);
    let new =
        measurement("new", vec![metric("slow", &around(1.04e5, 12)), metric("steady", &around(1e5, 12))]);
    let against = compare_timed(&base, &new, &Design::new(3));
    let slow = row(&against, "slow");
    let (low, high) = slow.interval.unwrap();
    assert_eq!(slow.verdict, Verdict::Worse);
    assert!(3.0 < low && low < 4.0 && 4.0 < high && high < 5.0, "{slow:?}");
    assert!(
        (slow.percent.unwrap() - 4.0).abs() < 0.01 && (slow.difference - 4000.0).abs() < 10.0,
        "{slow:?}"
    );
    assert!(slow.p.is_some_and(|p| p < 0.001), "{slow:?}");
    assert_eq!(row(&against, "steady").verdict, Verdict::Same);
    assert_eq!(against, compare_timed(&base, &new, &Design::new(3)), "a seed gives the same again");
}

#[test]
fn disturbed_boots_are_left_out_if_the_design_says_so() {
    let mut base = measurement("base", vec![metric("a", &around(1e5, 12))]);
    let mut values = around(1e5, 12);
    values[3] = 9e5;
    let mut new = measurement("new", vec![metric("a", &values)]);
    let conditions = host::Conditions {
        load: 3.0,
        cpu_pressure: 0.0,
        memory_pressure: 0.0,
        io_pressure: 0.0,
        steal: 0.3,
        frequency_mhz: None,
        other_guests: 0,
    };
    new.boots[3].conditions = Some(conditions.clone());
    let (with, without) = (Design::new(1), Design { leave_out_disturbed: true, ..Design::new(1) });
    assert_eq!(compare_timed(&base, &new, &with).rows[0].new.boots.len(), 12);
    let against = compare_timed(&base, &new, &without);
    assert_eq!(against.rows[0].new.boots.len(), 11);
    assert!(against.rows[0].new.max < 2e5, "{against:?}");
    base.boots.iter_mut().for_each(|boot| boot.conditions = Some(conditions.clone()));
    let none = compare_timed(&base, &new, &without);
    assert_eq!((none.rows.len(), none.missing.len()), (0, 1));
}

#[test]
fn boots_end_when_all_is_decided_or_no_look_is_left() {
    let design = Design::new(1);
    let steady =
        |count| measurement("a", vec![metric("a", &around(1e5, count)), metric("b", &around(1e5, count))]);
    let mut plan = Sequential::new(&design);
    let mut looks = Vec::new();
    while let Some(boots) = plan.next_look() {
        looks.push(boots);
        plan.looked(&[compare_timed(&steady(boots), &steady(boots), &design)]);
    }
    assert_eq!(looks, [5]);

    let noisy = measurement("b", vec![metric("a", &around(1e5, 12)), metric("b", &[5e4, 2e5, 1e5])]);
    let mut plan = Sequential::new(&design);
    let looks = std::iter::from_fn(|| {
        let boots = plan.next_look()?;
        plan.looked(&[
            compare_timed(&steady(5), &steady(5), &design),
            compare_timed(&steady(12), &noisy, &design),
        ]);
        Some(boots)
    });
    assert!(looks.eq(Design::LOOKS));
}

#[test]
fn noise_is_what_a_kernel_against_itself_gives() {
    let of = |values: &[f64]| measurement("same", vec![metric("a", &around(1e5, 8)), metric("b", values)]);
    let comparisons: Vec<Against> = (0..10)
        .map(|index| {
            let unlucky = if index == 0 { 1.1e5 } else { 1e5 };
            compare_timed(&of(&around(1e5, 8)), &of(&around(unlucky, 8)), &Design::new(1))
        })
        .collect();
    let noise = Noise::of(&comparisons, jiff::Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!((noise.comparisons, noise.false_alarms), (20, 0.05));
    // The largest of 20 is 10 %: the quantile lies between it and the next, which is 0.
    assert!((noise.floor - 0.5).abs() < 0.01, "{noise:?}");
    assert_eq!(Noise::of(&[], jiff::Timestamp::UNIX_EPOCH), None);
}
