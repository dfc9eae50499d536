//! Ends that are not what they should be.

use bisect::{Error, Kept, Point, Question};
use ledger::Journal;

use crate::fake::{ALWAYS, FakeAxis, NEVER, Seen, World, shows};

#[test]
fn swapped_ends() {
    let mut world = World::new(FakeAxis::line(60), |axis, point| shows(!axis.has(point, 7)));
    match world.bisect() {
        Err(Error::Swapped { good, good_rate, bad_rate, .. }) => {
            assert_eq!((&good[..], &good_rate[..], &bad_rate[..]), ("First", "5 of 5 runs", "0 of 5 runs"));
        }
        other => panic!("{other:?}"),
    }
    let mut world = World::with_culprit(FakeAxis::line(60), 7).fixed();
    assert!(matches!(world.bisect(), Err(Error::Swapped { how: "remove --fixed", .. })));
}

#[test]
fn it_shows_nowhere() {
    let mut world = World::new(FakeAxis::line(60), |_, _| NEVER);
    match world.bisect() {
        Err(Error::NotBad { bad, rate, .. }) => {
            assert_eq!((&bad[..], &rate[..]), ("Last", "0 of 100 runs"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.runs(&Point::Last), 100);
}

#[test]
fn as_many_runs_as_the_user_allows_are_made_and_no_more() {
    for tries in [0, 1, 5, 7, 12] {
        let mut world = World::new(FakeAxis::line(60), |_, _| NEVER);
        world.settings.tries = tries;
        assert!(matches!(world.bisect(), Err(Error::NotBad { .. })));
        assert_eq!(world.runs(&Point::Last), tries.max(5));
    }
}

#[test]
fn it_shows_everywhere() {
    let mut world = World::new(FakeAxis::line(60), |_, _| ALWAYS);
    match world.bisect() {
        Err(Error::NotGood { good, rate, .. }) => {
            assert_eq!((&good[..], &rate[..]), ("First", "3 of 3 runs"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rare_failure_is_waited_for() {
    let mut world = World::with_rate(FakeAxis::line(4), 2, 0.08).seed(3);
    world.settings.tries = 300;
    let bisection = world.bisect().unwrap();
    assert_eq!(crate::fake::culprits(&bisection), [2]);
    assert!(bisection.last.state.bad >= 3, "{:?}", bisection.last);
    assert!(bisection.first.state.good >= 20, "{:?}", bisection.first);
}

#[test]
fn what_always_builds_or_never_is_asked_once() {
    let mut world = World::with_culprit(FakeAxis::line(60), 7).asks(Question::Build);
    assert_eq!(world.culprits(), [7]);
    let mut asked = world.asked();
    assert!(world.calls.iter().flatten().all(|(_, times)| *times == 1), "{:?}", world.calls);
    asked.sort();
    assert!(asked.is_sorted_by(|a, b| a < b), "{asked:?}");
    let mut world = World::new(FakeAxis::line(60), |_, _| NEVER).asks(Question::Build);
    // More tries would not help.
    assert!(matches!(world.bisect(), Err(Error::NotBad { hint: "", .. })));
    assert_eq!(world.asked(), [Point::Last, Point::First]);
}

#[test]
fn what_was_learnt_before_the_tester_broke_is_kept() {
    let mut world = World::with_culprit(FakeAxis::line(60), 7);
    world.calls_left = 4;
    world.stop = || Error::Broken("no space left on device".to_string());
    match world.bisect() {
        Err(error @ Error::Broken(_)) => assert!(error.to_string().contains("no space left"), "{error}"),
        other => panic!("{other:?}"),
    }
    let (_journal, kept) = Journal::open::<Kept>(world.folder()).unwrap();
    let sessions: Vec<&String> = kept.iter().flat_map(|kept| &kept.evidence().sessions).collect();
    assert_eq!(sessions.len(), 4);
    assert_eq!(sessions[0], "Last/0");
}

#[test]
fn settings_that_cannot_be_cost_no_test() {
    for confidence in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        let mut world = World::with_culprit(FakeAxis::line(60), 7);
        world.settings.confidence = confidence;
        assert!(matches!(world.bisect(), Err(Error::Search(_))));
        assert!(world.calls.is_empty());
    }
    let mut world = World::new(FakeAxis::line(0), |_, point| shows(*point == Point::Last));
    assert!(matches!(world.bisect(), Err(Error::Search(_))));
    assert!(world.calls.is_empty());
}

#[test]
fn a_tester_that_answers_too_little_is_broken() {
    struct Mute(World);
    impl bisect::Tester for Mute {
        fn test(
            &mut self,
            _: &[bisect::Test],
            _: &mut dyn FnMut(bisect::Progress),
        ) -> Result<Vec<bisect::Tested>, Error> {
            Ok(Vec::new())
        }
        fn look_for(&mut self, _: &bisect::Evidence) {}
        fn jobs(&self) -> usize {
            1
        }
        fn keeps_machines(&self) -> bool {
            true
        }
    }
    let mut mute = Mute(World::new(FakeAxis::line(3), |_, _| Seen::Nothing));
    let (mut journal, kept) = Journal::open::<Kept>(mute.0.folder()).unwrap();
    let (mut axis, question, settings) =
        (mute.0.axis.clone(), mute.0.question.clone(), mute.0.settings.clone());
    let parts = bisect::Parts { tester: &mut mute, journal: &mut journal, kept, emit: &mut |_| {} };
    let result = bisect::bisect(&mut axis, &question, &settings, parts);
    assert!(matches!(result, Err(Error::Broken(_))), "{result:?}");
}
