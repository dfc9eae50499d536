use protocol::steal::{
    Budget, CLASSES, Cause, CpuTimes, Gaps, Load, Polls, Setup, StealRequest, ThreadTime, Trace, Traced,
    Usage, Work, Xdp,
};

use super::*;

const UDP: Load = Load::Udp { pps: 100_000, size: 64 };

fn thread(name: &str, ns: u64, at_most: bool) -> ThreadTime {
    ThreadTime { name: name.to_owned(), ns, at_most }
}

/// A pass of five seconds, of which this many thousandths were stolen.
fn pass(stolen: u64) -> Pass {
    let sum_ns = stolen * 5_000_000;
    let mut histogram = vec![0; CLASSES];
    (histogram[1], histogram[2], histogram[4]) = (20_000, 160_000, 12);
    Pass {
        elapsed_ns: 5_000_000_000,
        work: Some(Work {
            done_ns: 5_000_000_000 - sum_ns - 5_000_000,
            gaps: Gaps { count: 180_012, sum_ns, longest_ns: 4_200_000, histogram },
        }),
        usage: Usage {
            user_us: 2_490_000,
            system_us: 1_450_000,
            run_ns: 4_000_000_000,
            voluntary: 0,
            involuntary: 77,
        },
        times: Some(CpuTimes {
            user_ms: 2490,
            system_ms: 150,
            softirq_ms: 1860,
            idle_ms: 0,
            irq_ms: 0,
            steal_ms: 500,
        }),
        threads: vec![
            thread("ksoftirqd/1", 900_000_000, false),
            thread("evil\u{1b}[2J", 90_000_000, true),
            thread("short", 1, true),
        ],
        load_count: Some(500_000),
        load_busy_ns: None,
        status: None,
    }
}

fn trace() -> Trace {
    let cause = |name: &str, count, ns, charged_ns| Cause { name: name.to_owned(), count, ns, charged_ns };
    Trace {
        traced_ns: 1_000_000_000,
        victim_ns: 700_000_000,
        waited_ns: 250_000_000,
        interrupts: vec![cause("local_timer", 1_000, 20_000_000, 15_000_000), cause("rare", 1, 10, 0)],
        softirqs: vec![cause("NET_RX", 30_000, 300_000_000, 200_000_000)],
        threads: vec![thread("ksoftirqd/1", 250_000_000, false)],
        polls: Polls { count: 30_000, packets: 330_000, full: 3_000 },
        dropped: 12,
        unread: 0,
    }
}

fn report() -> StealReport {
    let request = StealRequest { load: Some(UDP), ..StealRequest::default() };
    let side = Side { setup: request.setup, passes: vec![pass(382)], trace: Traced::Seen(trace()) };
    StealReport {
        request,
        cpu: 1,
        conditions: Conditions {
            accounting: Accounting::Tick,
            hypervisor: Some("KVMKVMKVM".to_owned()),
            sender: Some(0),
            budget: Some(Budget { weight: 64, packets: 300, usecs: 8000 }),
        },
        calibration: Some(Calibration {
            windows: 500,
            disturbed: 140,
            unit_ps: 45_125,
            spread: 0.0042,
            stolen: 0.031,
            threshold_ns: 1000,
        }),
        sides: vec![side],
        interrupted: false,
    }
}

#[test]
fn each_figure_of_a_pass_has_a_line_and_tracing_comes_behind() {
    insta::assert_snapshot!(text(&report()));
}

#[test]
fn two_set_ups_are_compared_with_an_interval() {
    let mut report = report();
    let against = Setup { rps: true, xdp: Some(Xdp::Drop) };
    report.request.against = Some(against);
    let passes = |all: [u64; 5]| all.map(pass).to_vec();
    report.sides = vec![
        Side { setup: report.request.setup, passes: passes([380, 382, 390, 370, 385]), trace: Traced::None },
        Side { setup: against, passes: passes([250, 262, 248, 252, 255]), trace: Traced::None },
    ];
    insta::assert_snapshot!(text(&report));
}

#[test]
fn a_command_has_no_work_of_the_probe_and_doubts_are_told() {
    let mut report = report();
    report.request.command = ["openssl", "speed", "\u{1b}[31m"].map(str::to_owned).to_vec();
    report.request.load = None;
    report.calibration = None;
    report.interrupted = true;
    report.conditions = Conditions { sender: Some(1), ..Conditions::default() };
    report.sides[0].passes[0] = Pass { work: None, load_count: None, status: Some(1), ..pass(0) };
    report.sides[0].trace = Traced::Missing("no trace: it needs root (CAP_SYS_ADMIN)".to_owned());
    insta::assert_snapshot!(text(&report));
}

#[test]
fn a_probe_whose_figures_differ_was_disturbed() {
    let mut report = report();
    assert!(!text(&report).contains("disturbed: "));
    report.sides[0].passes[0].work.as_mut().expect("it is a probe's").done_ns -= 200_000_000;
    assert!(text(&report).contains("disturbed: work and gaps differ by more than 2 points in 1 of 1 passes"));
}

#[test]
fn a_limit_has_a_verdict() {
    let mut report = report();
    report.request.max_steal = Some(0.4);
    assert!(text(&report).ends_with("\nNo more than the limit of 40.0 % was stolen.\n"));
    report.request.max_steal = Some(0.2);
    assert!(text(&report).ends_with("\n38.2 % of CPU 1 was stolen, more than 20.0 %\n"));
}

#[test]
fn progress_is_a_line() {
    let mut report = report();
    assert_eq!(progress(&report), "pass 1, 5.0 s on CPU 1: 38.2 % stolen");
    report.sides.clear();
    assert_eq!(progress(&report), "calibrates on CPU 1");
}
