//! The same command goes on from what was learnt.

use std::fs::{self, OpenOptions};
use std::io::Write;

use bisect::{Conclusion, Error, Kept, Point, Progress, Question};
use ledger::Journal;

use crate::fake::{CALLS_MAX, FakeAxis, NEVER, Seen, World, shows};

/// The order in which numbers are added up changes their last digits.
fn rounded(conclusion: &Conclusion) -> Conclusion {
    let mut rounded = conclusion.clone();
    if let Conclusion::Culprits { confidence, .. } | Conclusion::Suspects { confidence, .. } = &mut rounded {
        *confidence = (*confidence * 1e9).round();
    }
    rounded
}

/// Interrupted after each call, and gone on: nothing that was tested is tested again, and it comes to the same.
fn goes_on(world: impl Fn() -> World) {
    let mut whole = world();
    let expected = whole.bisect().unwrap();
    for calls in 0..whole.calls.len() {
        let mut world = world();
        world.calls_left = calls;
        assert!(matches!(world.bisect(), Err(Error::Interrupted)));
        world.calls_left = CALLS_MAX;
        let bisection = world.bisect().unwrap();
        assert_eq!(world.calls, whole.calls, "stopped after {calls}");
        assert_eq!(rounded(&bisection.conclusion), rounded(&expected.conclusion));
        assert_eq!(bisection.proof, expected.proof);
        assert_eq!(bisection.threshold, expected.threshold);
        assert_eq!(bisection.states, expected.states);
        assert_eq!(bisection.steps.runs, expected.steps.runs);
        assert_eq!(bisection.steps.taken, expected.steps.taken, "stopped after {calls}");
        let answers: usize = whole.calls[..calls].iter().map(Vec::len).sum();
        assert!(matches!(world.events[0], Progress::Begun { resumed, .. } if resumed == answers));
    }
}

#[test]
fn on_a_line() {
    goes_on(|| World::with_culprit(FakeAxis::line(50), 31));
    goes_on(|| World::with_culprit(FakeAxis::line(50), 31).jobs(2));
    goes_on(|| World::new(FakeAxis::line(50), |axis, point| shows(!axis.has(point, 31))).fixed());
}

#[test]
fn of_an_intermittent_failure() {
    goes_on(|| World::with_rate(FakeAxis::line(20), 13, 0.4));
}

#[test]
fn around_what_cannot_be_tested() {
    for how in [Seen::Broken, Seen::Other, Seen::Nothing] {
        goes_on(|| {
            World::new(FakeAxis::line(50), move |axis, point| match point {
                Point::After(20..30) => how,
                _ => shows(axis.has(point, 31)),
            })
        });
    }
}

#[test]
fn of_a_set() {
    goes_on(|| {
        World::new(FakeAxis::options(20), |axis, point| shows(axis.has(point, 3) && axis.has(point, 11)))
    });
}

#[test]
fn of_a_metric() {
    for timed in [false, true] {
        goes_on(|| {
            World::new(FakeAxis::line(20), |axis, point| {
                Seen::About(if axis.has(point, 5) { 110.0 } else { 100.0 }, 7.0)
            })
            .asks(Question::Metric { name: "pipe".to_string(), worse_by: None, timed })
        });
    }
}

#[test]
fn when_it_is_over_nothing_is_tested() {
    let mut world = World::with_culprit(FakeAxis::line(50), 31);
    let first = world.bisect().unwrap();
    world.calls_left = 0;
    let second = world.bisect().unwrap();
    assert_eq!((second.conclusion, second.proof), (first.conclusion, first.proof));
    assert_eq!(second.steps.reused, first.steps.runs);
}

#[test]
fn a_line_that_was_not_finished_is_tested_again() {
    let mut world = World::with_culprit(FakeAxis::line(50), 31);
    world.bisect().unwrap();
    let calls = world.calls.len();
    let journal = world.folder().join("journal.jsonl");
    let length = fs::metadata(&journal).unwrap().len();
    OpenOptions::new().write(true).open(&journal).unwrap().set_len(length - 9).unwrap();
    assert_eq!(world.culprits(), [31]);
    assert_eq!(world.calls.len(), calls + 1);
    assert_eq!(world.calls[calls], world.calls[calls - 1]);
    OpenOptions::new().append(true).open(&journal).unwrap().write_all(b"{\"point\":\"fi").unwrap();
    assert_eq!(world.culprits(), [31]);
    assert_eq!(world.calls.len(), calls + 1);
}

#[test]
fn two_at_a_time_are_refused() {
    let mut world = World::new(FakeAxis::line(50), |_, _| NEVER);
    let _other = Journal::open::<Kept>(world.folder()).unwrap();
    assert!(matches!(world.bisect(), Err(Error::Ledger(ledger::Error::Busy { .. }))));
}
