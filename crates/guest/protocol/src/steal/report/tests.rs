use super::*;

/// A pass of a millisecond in which the probe did so much work and had such gaps, in microseconds.
pub(crate) fn pass(done_us: u64, gaps_us: u64) -> Pass {
    let gaps =
        Gaps { count: 1, sum_ns: gaps_us * 1000, longest_ns: gaps_us * 1000, histogram: vec![0; CLASSES] };
    Pass {
        elapsed_ns: 1_000_000,
        work: Some(Work { done_ns: done_us * 1000, gaps }),
        usage: Usage { user_us: 700, system_us: 200, run_ns: 900_000, voluntary: 0, involuntary: 3 },
        ..Pass::default()
    }
}

pub(crate) fn side(passes: Vec<Pass>) -> Side {
    Side { setup: Setup::default(), passes, trace: Traced::None }
}

pub(crate) fn report() -> StealReport {
    StealReport {
        request: StealRequest::default(),
        cpu: 1,
        conditions: Conditions::default(),
        calibration: None,
        sides: vec![side(vec![pass(400, 590)])],
        interrupted: false,
    }
}

fn wrong(change: impl FnOnce(&mut StealReport)) -> String {
    let mut report = report();
    change(&mut report);
    report.validate().expect_err("this is wrong").to_string()
}

#[test]
fn a_report_of_the_instrument_is_accepted() {
    assert_eq!(report().validate(), Ok(()));
    let running = StealReport { sides: Vec::new(), ..report() };
    assert_eq!(running.validate(), Ok(()));
}

#[test]
fn what_exceeds_a_limit_is_refused() {
    let long = || "x".repeat(TEXT_MAX + 1);
    let thread = |name| ThreadTime { name, ns: 1, at_most: false };
    let cause = |name| Trace {
        softirqs: vec![super::super::Cause { name, ..Default::default() }],
        ..Trace::default()
    };
    let messages = [
        wrong(|it| it.request.pairs = 0),
        wrong(|it| it.cpu = CPUS_MAX),
        wrong(|it| it.conditions.sender = Some(CPUS_MAX)),
        wrong(|it| it.conditions.hypervisor = Some(long())),
        wrong(|it| it.sides = vec![side(Vec::new()), side(Vec::new())]),
        wrong(|it| it.sides[0].passes = vec![pass(1, 1), pass(1, 1)]),
        wrong(|it| it.sides[0].passes[0].elapsed_ns = 0),
        wrong(|it| it.sides[0].passes[0].work = None),
        wrong(|it| it.request.command = vec!["true".to_owned()]),
        wrong(|it| it.sides[0].passes[0].work = Some(Work::default())),
        wrong(|it| it.sides[0].passes[0].threads = vec![thread(String::new()); THREADS_MAX + 1]),
        wrong(|it| it.sides[0].passes[0].threads = vec![thread(long())]),
        wrong(|it| it.sides[0].trace = Traced::Missing(long())),
        wrong(|it| it.sides[0].trace = Traced::Seen(cause(long()))),
        wrong(|it| {
            let softirqs = vec![super::super::Cause::default(); CAUSES_MAX + 1];
            it.sides[0].trace = Traced::Seen(Trace { softirqs, ..Trace::default() });
        }),
    ];
    let expected = [
        "has a wrong request: 0 pairs: use 5 to 100",
        "is wrong: there is no such CPU",
        "is wrong: there is no such CPU",
        "is wrong: a text is too long",
        "is wrong: there are too many set-ups",
        "is wrong: there are too many passes",
        "is wrong: a pass took no time",
        "is wrong: the probe did no work",
        "is wrong: a command does no work of the probe",
        "is wrong: the histogram has other classes",
        "is wrong: there are too many threads",
        "is wrong: a text is too long",
        "is wrong: a text is too long",
        "is wrong: a text is too long",
        "is wrong: there are too many causes",
    ];
    assert_eq!(messages, expected.map(|text| format!("the report of stolen time {text}")));
}
