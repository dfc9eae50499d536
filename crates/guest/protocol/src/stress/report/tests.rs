use proptest::prelude::*;

use super::*;

fn worker(operations: u64, end: End) -> WorkerReport {
    WorkerReport {
        operations,
        end: Some(end),
        wall_ns: 2_000_000_000,
        user_ns: 500_000_000,
        ..WorkerReport::default()
    }
}

fn instance(workers: Vec<WorkerReport>) -> InstanceReport {
    InstanceReport { stressor: "pipe".to_string(), workers, ..InstanceReport::default() }
}

fn kind_and_text(report: &Report) -> (ReportKind, &str) {
    (report.kind, report.text.as_str())
}

#[test]
fn rates_are_of_all_workers() {
    let two = instance(vec![worker(10, End::Exited(0)), worker(30, End::Exited(0))]);
    assert_eq!((two.per_second(), two.per_cpu_second()), (Some(20.0), Some(40.0)));
    assert_eq!(instance(Vec::new()).per_second(), None);
}

#[test]
fn no_operation_is_no_success() {
    let idle = instance(vec![worker(0, End::Exited(0))]).outcome();
    assert_eq!(kind_and_text(&idle), (ReportKind::Fail, "pipe: it did no operation"));
    let mut skipped = worker(0, End::Exited(0));
    skipped.reports.push(report(ReportKind::Skip, "needs root"));
    assert_eq!(kind_and_text(&instance(vec![skipped]).outcome()), (ReportKind::Skip, "pipe: needs root"));
    assert_eq!(instance(vec![worker(1, End::Exited(0))]).outcome().kind, ReportKind::Pass);
}

#[test]
fn an_end_says_whose_fault_it_is() {
    let of = |end| instance(vec![worker(5, End::Exited(0)), worker(5, end)]).outcome();
    let stuck = |killed| End::TimedOut { stacks: "in D state".to_string(), killed };
    assert_eq!(of(End::Signalled(9)).kind, ReportKind::Broken);
    assert_eq!(
        kind_and_text(&of(End::Signalled(11))),
        (ReportKind::Fail, "pipe: a worker died of signal 11")
    );
    assert_eq!(of(stuck(true)).kind, ReportKind::Broken);
    assert_eq!(
        kind_and_text(&of(stuck(false))),
        (ReportKind::Fail, "pipe: a worker cannot be killed, in D state")
    );
    assert_eq!(of(End::Exited(3)).kind, ReportKind::Broken);
}

#[test]
fn the_most_serious_outcome_counts() {
    let mut all = StressReport::default();
    assert_eq!(all.outcome().kind, ReportKind::Skip);
    all.instances.push(instance(vec![worker(1, End::Exited(0))]));
    assert_eq!(all.outcome().kind, ReportKind::Pass);
    all.leftovers.push(Leftover { name: "process 80 (sleep)".to_string(), stuck: None });
    assert_eq!(kind_and_text(&all.outcome()), (ReportKind::Broken, "left behind: process 80 (sleep)"));
    let mount = Leftover { name: "mount /x".to_string(), stuck: Some("is still there".to_string()) };
    all.leftovers.push(mount);
    assert_eq!(all.outcome().kind, ReportKind::Broken);
    let why = Some("cannot be killed".to_string());
    all.leftovers.push(Leftover { name: "process 81 (sleep)".to_string(), stuck: why });
    assert_eq!(all.outcome().kind, ReportKind::Fail);
}

#[test]
fn rates_of_workers_have_a_mean() {
    let of = |value| {
        let rate = Rate { name: "read64".to_string(), unit: "MB/s".to_string(), value, asked: None };
        WorkerReport { rates: vec![rate], ..worker(1, End::Exited(0)) }
    };
    let rates = instance(vec![of(10.0), of(30.0), worker(1, End::Exited(0))]).mean_rates();
    assert_eq!(rates.iter().map(|rate| rate.value).collect::<Vec<_>>(), [20.0]);
}

#[test]
fn what_is_too_large_or_no_number_is_refused() {
    let long = || "x".repeat(TEXT_MAX + 1);
    let right = || {
        let rate = Rate { name: "read".to_string(), unit: "MB/s".to_string(), value: 1.0, asked: None };
        let worker = WorkerReport { rates: vec![rate], ..worker(1, End::Exited(0)) };
        StressReport { instances: vec![instance(vec![worker])], ..StressReport::default() }
    };
    assert_eq!(right().validate(), Ok(()));
    let zone = ThermalZone { kind: String::new(), before: 0, highest: 0, after: 0 };
    let left = |name| Leftover { name, stuck: None };
    type Change = Box<dyn Fn(&mut StressReport)>;
    let changes: Vec<Change> = vec![
        Box::new(|it| it.instances = vec![InstanceReport::default(); WORKERS_MAX as usize + 1]),
        Box::new(|it| it.instances[0].workers = vec![WorkerReport::default(); WORKERS_MAX as usize + 1]),
        Box::new(move |it| it.leftovers = vec![left(String::new()); LEFTOVERS_MAX + 1]),
        Box::new(move |it| it.leftovers = vec![left(long())]),
        Box::new(move |it| it.thermal = vec![zone.clone(); ZONES_MAX + 1]),
        Box::new(|it| {
            it.instances[0].workers[0].reports = vec![report(ReportKind::Fail, ""); REPORTS_MAX + 1];
        }),
        Box::new(|it| it.instances[0].workers[0].rates[0].value = f64::NAN),
        Box::new(move |it| it.instances[0].workers[0].rates[0].unit = long()),
        Box::new(move |it| it.instances[0].workers[0].end = Some(End::NotStarted(long()))),
        Box::new(move |it| it.instances[0].stressor = long()),
        Box::new(move |it| it.instances[0].options = [(String::new(), long())].into()),
        Box::new(move |it| it.instances[0].refused = Some(report(ReportKind::Skip, &long()))),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut wrong = right();
        change(&mut wrong);
        assert!(wrong.validate().is_err(), "{number}");
    }
}

proptest! {
    #[test]
    fn odd_figures_are_taken(figures: Vec<(u64, u64, u64, u64, f64)>) {
        let workers = figures.into_iter().map(|(operations, wall_ns, user_ns, system_ns, value)| {
            let rates = vec![Rate { value, ..Rate::default() }];
            WorkerReport { operations, wall_ns, user_ns, system_ns, rates, ..WorkerReport::default() }
        });
        let instance = instance(workers.collect());
        let _ = (instance.per_second(), instance.per_cpu_second(), instance.mean_rates(), instance.outcome());
    }
}

#[test]
fn a_rate_that_was_missed_is_known() {
    let rate = |value, asked| Rate { value, asked, ..Rate::default() };
    assert_eq!(rate(1000.0, None).missed(), None);
    assert_eq!([996.0, 1004.0].map(|value| rate(value, Some(1000.0)).missed()), [None, None]);
    assert_eq!([994.0, 1006.0].map(|value| rate(value, Some(1000.0)).missed()), [Some(1000.0), Some(1000.0)]);
}
