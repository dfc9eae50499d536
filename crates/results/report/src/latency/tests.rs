use proptest::prelude::*;
use protocol::latency::{Breach, Clock, Conditions, Grant, Maxima, Policy, ThreadReport, Usage};

use super::*;

/// The distribution of the idle run in the article on cyclic latency, in microseconds, on one CPU.
const PUBLISHED: [(u64, u64); 12] = [
    (3_050, 82),
    (4_880, 3_342),
    (5_192, 5_974),
    (6_856, 197),
    (7_000, 209),
    (8_940, 100),
    (9_800, 50),
    (10_400, 29),
    (15_008, 11),
    (22_208, 3),
    (36_064, 2),
    (44_800, 1),
];

fn thread(cpu: Option<u32>) -> ThreadReport {
    let latencies = Latencies {
        minimum: 3_050,
        maximum: 44_818,
        sum: 52_428_600,
        squared_deviations: 1.306e10,
        histogram: PUBLISHED.to_vec(),
    };
    let usage = Usage {
        minor_faults: 0,
        major_faults: 0,
        voluntary_switches: 10_000,
        involuntary_switches: 3,
        user_us: 12_000,
        system_us: 71_000,
    };
    ThreadReport {
        cpu,
        policy: Policy::Fifo,
        priority: 99,
        timer_slack_ns: 0,
        latencies,
        maxima: Maxima {
            slot_ns: 10_000_000,
            slots: (0..20).map(|slot| 5_000 + 100 * slot).chain([44_818]).collect(),
        },
        late_cycles: 0,
        unmeasured: 0,
        rests: 0,
        early: 0,
        earliest_ns: 0,
        usage: Some(usage),
    }
}

fn report() -> LatencyReport {
    let conditions = Conditions {
        hypervisor: None,
        clocksource: Some("tsc".to_owned()),
        resolution_ns: 1,
        rt_runtime_us: Some(950_000),
        rt_period_us: Some(1_000_000),
        locked: Grant::Granted,
        cpu_dma_latency: Grant::NotWanted,
        trace: Grant::NotWanted,
    };
    let request = LatencyRequest { interval_ns: 20_000, priority: 99, ..LatencyRequest::default() };
    LatencyReport {
        request,
        elapsed_ns: 210_000_000,
        conditions,
        threads: vec![thread(None)],
        breach: None,
        load: None,
        power: Power::Unknown("no RAPL and no battery".to_owned()),
    }
}

#[test]
fn a_measurement_reads_as_in_the_article() {
    insta::assert_snapshot!(text(&report(), Some(Duration::from_micros(1))));
    assert_eq!(
        progress(&report()),
        "10,000 samples in 210 ms: median 5.195 µs, 99 % 8.943 µs, maximum 44.82 µs"
    );
}

/// All that can go wrong at once.
fn disturbed() -> LatencyReport {
    let mut report = report();
    report.request = LatencyRequest {
        policy: Policy::Other,
        priority: 0,
        relative: true,
        clock: Clock::Boottime,
        cpus: vec![0, 2, 3],
        break_above_ns: Some(40_000),
        ..report.request
    };
    report.conditions = Conditions {
        hypervisor: Some("KVMKVMKVM".to_owned()),
        resolution_ns: 4_000_000,
        locked: Grant::Refused("mlockall: Cannot allocate memory".to_owned()),
        cpu_dma_latency: Grant::Refused("/dev/cpu_dma_latency: \u{1b}[2JPermission denied".to_owned()),
        trace: Grant::Granted,
        ..report.conditions
    };
    report.threads = [0, 2, 3].map(|cpu| thread(Some(cpu))).to_vec();
    for thread in &mut report.threads {
        (thread.policy, thread.timer_slack_ns) = (Policy::Other, 50_000);
        (thread.late_cycles, thread.unmeasured, thread.rests) = (7, 12, 2);
        (thread.early, thread.earliest_ns) = (1, 900);
    }
    report.threads[1].usage = None;
    report.threads[2].usage = Some(Usage { minor_faults: 4, ..report.threads[0].usage.expect("it has one") });
    report.breach = Some(Breach {
        latency_ns: 44_818,
        at_ns: 209_000_000,
        woken_ns: 1_234_567_901_234,
        cpu: 2,
        trace: vec![
            "          <idle>-0       [002] dNh4.  1234.567899: sched_wakeup: comm=latency pid=7 prio=19"
                .to_owned(),
            "          <idle>-0       [002] \u{1b}[31md..2.  1234.567900: sched_switch:\u{7}".to_owned()
                + &" x".repeat(100),
        ],
    });
    report
}

#[test]
fn what_disturbed_is_said() {
    insta::assert_snapshot!(text(&disturbed(), None));
}

#[test]
fn without_samples_there_is_nothing_to_show() {
    let mut report = report();
    report.threads[0].latencies = Latencies::default();
    report.threads[0].maxima.slots.clear();
    report.request.method = Method::Poll;
    report.conditions.hypervisor = Some("TCGTCGTCGTCG".to_owned());
    report.breach = Some(Breach { latency_ns: 1, at_ns: 0, woken_ns: 0, cpu: 0, trace: Vec::new() });
    report.conditions.trace = Grant::Refused("no trace: /sys/kernel/tracing is not there".to_owned());
    insta::assert_snapshot!(text(&report, None));
    assert_eq!(progress(&report), "0 samples in 210 ms");
}

#[test]
fn cpus_are_listed_as_the_kernel_does_it() {
    let lists =
        [vec![], vec![3], vec![3, 2], vec![7, 0, 2, 3, 4], vec![u32::MAX, u32::MAX]].map(|cpus| list(&cpus));
    assert_eq!(lists, ["", "3", "2-3", "0,2-4,7", "4294967295,4294967295"]);
}

#[test]
fn for_programs_it_is_what_the_instrument_wrote() {
    let text = crate::json_line(&disturbed()).expect("it has a form");
    assert_eq!(text.lines().count(), 1);
    assert_eq!(serde_json::from_str::<LatencyReport>(&text).expect("it is read back"), disturbed());
}

proptest! {
    #[test]
    fn whatever_a_guest_sends_can_be_printed(
        (minimum, maximum, sum, slot_ns) in any::<(u64, u64, u64, u64)>(),
        squared_deviations in any::<f64>(),
        histogram in any::<Vec<(u64, u64)>>(),
        slots in any::<Vec<u64>>(),
        numbers in any::<[u64; 6]>(),
        texts in any::<[String; 3]>(),
        bucket in any::<Option<u64>>(),
    ) {
        let mut report = disturbed();
        let thread = &mut report.threads[0];
        thread.latencies = Latencies { minimum, maximum, sum, squared_deviations, histogram };
        thread.maxima = Maxima { slot_ns, slots };
        [thread.late_cycles, thread.unmeasured, thread.rests, thread.early, thread.earliest_ns, report.elapsed_ns] = numbers;
        let [hypervisor, why, line] = texts;
        report.conditions.hypervisor = Some(hypervisor);
        report.conditions.locked = Grant::Refused(why);
        report.breach = report.breach.map(|breach| Breach { trace: vec![line], ..breach });
        let text = text(&report, bucket.map(Duration::from_nanos));
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        prop_assert!(!progress(&report).is_empty());
    }
}
