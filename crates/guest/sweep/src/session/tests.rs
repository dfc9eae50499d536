use std::fs;

use protocol::latency::{
    Conditions, Grant, Latencies, Maxima, Policy, Power, PowerSource, ThreadReport, Watts,
};

use super::*;
use crate::cpufreq::tests::system;

/// What an instrument measures that has one sample.
fn measured(request: &LatencyRequest, latency: u64) -> LatencyReport {
    let latencies = Latencies {
        minimum: latency,
        maximum: latency,
        sum: latency,
        histogram: vec![(latency, 1)],
        ..Latencies::default()
    };
    let thread = ThreadReport {
        cpu: None,
        policy: request.policy,
        priority: request.priority,
        timer_slack_ns: 0,
        latencies,
        maxima: Maxima { slot_ns: 1, slots: Vec::new() },
        late_cycles: 0,
        unmeasured: 0,
        rests: 0,
        early: 0,
        earliest_ns: 0,
        usage: None,
    };
    let conditions = Conditions {
        hypervisor: None,
        clocksource: None,
        resolution_ns: 1,
        rt_runtime_us: None,
        rt_period_us: None,
        locked: Grant::Granted,
        cpu_dma_latency: Grant::NotWanted,
        trace: Grant::NotWanted,
    };
    let watts = Watts {
        source: PowerSource::Rapl,
        samples: 1,
        mean: 7.0,
        standard_deviation: 0.0,
        minimum: 7.0,
        maximum: 7.0,
    };
    LatencyReport {
        request: request.clone(),
        elapsed_ns: 1,
        conditions,
        threads: vec![thread],
        breach: None,
        load: None,
        power: Power::Measured(watts),
    }
}

fn request(governors: Governors) -> SweepRequest {
    SweepRequest {
        governors,
        policies: vec![Policy::Fifo, Policy::Other],
        repeat: 3,
        ..SweepRequest::default()
    }
}

fn why(request: &SweepRequest, system: &Path) -> Report {
    sweep(request, system, &mut |_| panic!("nothing is measured"), &mut |_| Ok(()))
        .expect_err("it is not there")
}

#[test]
fn each_combination_is_measured_under_its_governor_which_is_put_back() {
    let system = system(&["powersave performance", "powersave performance"]);
    let governor = || {
        let files = Cpufreq::find(system.path()).files();
        let mut all: Vec<String> =
            files.iter().map(|it| fs::read_to_string(it).expect("it is there").trim().to_owned()).collect();
        all.dedup();
        all.join(",")
    };
    let (mut seen, mut heard) = (Vec::new(), Vec::new());
    let report = sweep(
        &request(Governors::All),
        system.path(),
        &mut |request| {
            seen.push((governor(), request.policy));
            Ok(Some(measured(request, seen.len() as u64)))
        },
        &mut |report| {
            heard.push(report.finished);
            Ok(())
        },
    )
    .expect("all can be measured");
    assert_eq!(governor(), "powersave");
    assert_eq!(report.validate(), Ok(()));
    let round = ["powersave", "performance"]
        .into_iter()
        .flat_map(|governor| [Policy::Fifo, Policy::Other].map(|policy| (governor.to_owned(), policy)));
    let round: Vec<_> = round.collect();
    let back: Vec<_> = round.iter().rev().cloned().collect();
    assert_eq!(seen, [round.clone(), back, round].concat());
    assert_eq!(heard, (1..=12).collect::<Vec<_>>());
    let medians: Vec<u64> = report.rows[0].runs.iter().map(|run| run.latencies.maximum).collect();
    assert_eq!((medians, report.rows[0].runs[0].power.mean()), (vec![1, 8, 9], Some(7.0)));
}

#[test]
fn without_cpufreq_the_rest_is_measured_unless_a_governor_is_named() {
    let empty = tempfile::tempdir().expect("there is room");
    let mut measure = |request: &LatencyRequest| Ok(Some(measured(request, 5)));
    let report = sweep(&request(Governors::All), empty.path(), &mut measure, &mut |_| Ok(()));
    let report = report.expect("policies can be measured");
    assert_eq!(report.no_governors.as_deref(), Some("there are none: no driver of cpufreq"));
    assert_eq!((report.rows.len(), report.finished), (2, 6));
    let named = request(Governors::Named(vec!["performance".to_owned()]));
    let skip = why(&named, empty.path());
    assert_eq!(
        (skip.kind, skip.text.as_str()),
        (ReportKind::Skip, "governors: there are none: no driver of cpufreq")
    );
    let other = system(&["powersave ondemand"]);
    let skip = why(&named, other.path());
    assert_eq!(skip.text, "governor performance: this machine has powersave, ondemand");
}

#[test]
fn what_cannot_be_measured_is_not_tried_again_and_the_others_go_on() {
    let empty = tempfile::tempdir().expect("there is room");
    let mut tried = 0;
    let report = sweep(
        &request(Governors::Unchanged),
        empty.path(),
        &mut |request| match request.policy {
            Policy::Fifo => {
                tried += 1;
                Err(skip("SCHED_FIFO: no".to_owned()))
            }
            _ => Ok(Some(measured(request, 5))),
        },
        &mut |_| Ok(()),
    )
    .expect("one can be measured");
    assert_eq!((tried, report.rows[0].runs.len(), report.rows[1].runs.len()), (1, 0, 3));
    assert_eq!(report.rows[0].stopped, Some(skip("SCHED_FIFO: no".to_owned())));
    assert_eq!(report.outcome().kind, ReportKind::Pass);
}

#[test]
fn it_ends_early_when_a_signal_came_or_nobody_listens() {
    let empty = tempfile::tempdir().expect("there is room");
    let request = request(Governors::Unchanged);
    let report = sweep(&request, empty.path(), &mut |_| Ok(None), &mut |_| Ok(())).expect("it ends");
    assert!(report.interrupted && report.finished == 0);
    let mut measure = |request: &LatencyRequest| Ok(Some(measured(request, 5)));
    let mut deaf = |_: &SweepReport| Err(std::io::ErrorKind::BrokenPipe.into());
    let report = sweep(&request, empty.path(), &mut measure, &mut deaf).expect("it ends");
    assert!(report.interrupted && report.finished == 1);
}
